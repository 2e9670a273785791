module github.com/redis-stream-coordinator/rsc/services/monitor

go 1.26.0

require (
	github.com/go-chi/chi/v5 v5.5.0
	github.com/oklog/ulid/v2 v2.1.2
	github.com/redis-stream-coordinator/rsc/libs v0.0.0
	github.com/redis-stream-coordinator/rsc/libs/testkit v0.0.0
	github.com/redis/go-redis/v9 v9.23.0
	github.com/spf13/cobra v1.10.2
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	pgregory.net/rapid v1.3.0
)

replace (
	github.com/redis-stream-coordinator/rsc/libs => ../../libs
	github.com/redis-stream-coordinator/rsc/libs/testkit => ../../libs/testkit
)
