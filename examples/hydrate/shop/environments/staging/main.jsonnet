(import '../../lib.libsonnet')('staging', 2)
