package route

// Operations that stages treat in their own way.
const (
	// OperationHeartbeat is the heartbeat of one member, OperationHeartbeats that of several.
	OperationHeartbeat  = "HEARTBEAT"
	OperationHeartbeats = "HEARTBEATS"
	// OperationRouting asks where producers write.
	OperationRouting = "PRODUCER_ROUTING"
)
