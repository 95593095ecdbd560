// The Argo CD application that deploys this component.
local kap = import 'lib/kapitan.libjsonnet';
local params = kap.inventory().parameters.{{ cookiecutter.parameter_key }};
local argocd = import 'lib/argocd.libjsonnet';

local app = argocd.App('{{ cookiecutter.slug }}', params.namespace);

local folder =
  local project = std.get(std.get(app, 'spec', {}), 'project', 'syn');
  if project == 'syn' then 'apps' else 'apps-%s' % project;

{
  ['%s/{{ cookiecutter.slug }}' % folder]: app,
}
