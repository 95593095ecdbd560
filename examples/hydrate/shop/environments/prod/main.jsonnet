(import '../../lib.libsonnet')('prod', 3)
