module github.com/redis-stream-coordinator/rsc/services/admin-gateway

go 1.26.0

require (
	github.com/cenkalti/backoff/v5 v5.0.3
	github.com/go-chi/chi/v5 v5.5.0
	github.com/oklog/ulid/v2 v2.1.2
	github.com/redis-stream-coordinator/rsc/libs v0.0.0
	github.com/redis-stream-coordinator/rsc/libs/testkit v0.0.0
	github.com/redis/go-redis/v9 v9.23.0
	github.com/spf13/cobra v1.10.2
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
)

require (
	github.com/alicebob/miniredis/v2 v2.40.0 // indirect
	github.com/getkin/kin-openapi v0.153.0 // indirect
	github.com/go-chi/httprate v0.16.1 // indirect
	github.com/klauspost/cpuid/v2 v2.4.0 // indirect
	github.com/swaggest/swgui v1.8.5 // indirect
	github.com/vearutop/statigz v1.4.0 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

replace (
	github.com/redis-stream-coordinator/rsc/libs => ../../libs
	github.com/redis-stream-coordinator/rsc/libs/testkit => ../../libs/testkit
)
