module github.com/redis-stream-coordinator/rsc/services/standalone

go 1.26.0

require github.com/redis-stream-coordinator/rsc/libs v0.0.0
require github.com/redis-stream-coordinator/rsc/libs/testkit v0.0.0
require github.com/redis-stream-coordinator/rsc/services/coordinator v0.0.0

replace github.com/redis-stream-coordinator/rsc/libs => ../../libs
replace github.com/redis-stream-coordinator/rsc/libs/testkit => ../../libs/testkit
replace github.com/redis-stream-coordinator/rsc/services/coordinator => ../coordinator
