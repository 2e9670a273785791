module github.com/redis-stream-coordinator/rsc/tools

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace github.com/redis-stream-coordinator/rsc/libs => ../libs

replace github.com/redis-stream-coordinator/rsc/libs/testkit => ../libs/testkit

replace github.com/redis-stream-coordinator/rsc/services/coordinator => ../services/coordinator

replace github.com/redis-stream-coordinator/rsc/services/standalone => ../services/standalone
