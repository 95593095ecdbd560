(import '../../lib.libsonnet')('dev', 1)
