package openapitest_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/openapitest"
)

// schemas names the schema of each shape of libs/protocol, which is the truth.
func schemas() map[string]any {
	return map[string]any{
		"ErrorResponse": protocol.ErrorResponse{}, "LoginRequest": protocol.LoginRequest{}, "LoginResponse": protocol.LoginResponse{},
		"LogoutResponse": protocol.LogoutResponse{}, "MonitoringSessionResponse": protocol.SessionResponse{},
		"CreateStreamRequest": protocol.CreateStreamRequest{}, "CreateGroupRequest": protocol.CreateGroupRequest{},
		"DeleteGroupRequest": protocol.DeleteRequest{}, "ScaleStreamRequest": protocol.ScaleRequest{}, "ScaleGroupRequest": protocol.ScaleRequest{},
		"RollbackMigrationRequest": protocol.RollbackRequest{}, "ConfirmDrainRequest": protocol.ConfirmDrainRequest{},
		"BarrierRequest": protocol.BarrierRequest{}, "FenceRequest": protocol.FenceRequest{}, "RepairIndexRequest": protocol.RepairIndexRequest{},
		"StreamCreateResponse": protocol.StreamCreateResponse{}, "StreamsResponse": protocol.StreamsResponse{},
		"StreamResponse": protocol.StreamResponse{}, "GroupsResponse": protocol.GroupsResponse{}, "GroupResponse": protocol.GroupResponse{},
		"MembersResponse": protocol.MembersResponse{}, "MemberMetadata": protocol.MemberMetadata{}, "ShardId": protocol.ShardID{},
		"AssignmentsResponse": protocol.AssignmentsResponse{}, "RepairIndexResponse": protocol.RepairIndexResponse{},
		"Plan": protocol.Plan{}, "GroupPlan": protocol.GroupPlan{}, "MemberMove": protocol.MemberMove{}, "PlanRefusal": protocol.PlanRefusal{},
		"StreamScaleResponse": protocol.StreamScaleResponse{}, "MigrationsResponse": protocol.MigrationsResponse{},
		"Migration": protocol.Migration{}, "MigrationProgress": protocol.MigrationProgress{}, "GroupProgress": protocol.GroupProgress{},
		"ShardDrain": protocol.ShardDrain{}, "ShardOwner": protocol.ShardOwner{},
		"HeartbeatRequest": protocol.HeartbeatRequest{}, "RuntimeConsumerCapacity": protocol.Capacity{},
		"RevokingShardReport": protocol.RevokingShard{}, "ShardConsumptionProgress": protocol.ShardProgress{},
		"HeartbeatResponse": protocol.HeartbeatResponse{}, "AssignmentView": protocol.Assignment{},
		"ProducerRoutingResponse": protocol.ProducerRouting{}, "ProducerRoutingShard": protocol.RoutingShard{},
		"EventsResponse": protocol.EventsResponse{}, "GroupEvent": protocol.GroupEvent{}, "EventChange": protocol.EventChange{},
		"ShardChange": protocol.ShardChange{}, "TargetChange": protocol.TargetChange{}, "HoldChange": protocol.HoldChange{},
		"HoldState": protocol.HoldState{}, "HealthResponse": protocol.HealthResponse{},
		"CoordinatorCompatibilityResponse": protocol.CompatibilityResponse{}, "SupportedVersionRange": protocol.VersionRange{},
		"CoordinationVersionSupport": protocol.VersionSupport{}, "ReleaseVersion": protocol.ReleaseVersion{},
		"CoordinationTimingDefaults": protocol.TimingValues{}, "VersionResponse": protocol.VersionResponse{},
		"MonitoredGroup": protocol.MonitoredGroup{}, "GroupProblem": protocol.GroupProblem{}, "Samples": protocol.Samples{},
		"RecentMutation":             protocol.RecentMutation{},
		"StreamShardOffsetsResponse": protocol.StreamShardOffsetsResponse{}, "StreamShardOffset": protocol.StreamShardOffset{},
		"ConsumptionProgressResponse": protocol.ConsumptionProgressResponse{}, "ConsumerShardProgress": protocol.ConsumerShardProgress{},
		"StreamMessagesPageResponse": protocol.StreamMessagesPageResponse{}, "StreamMessageRecord": protocol.StreamMessageRecord{},
		"PendingResponse": protocol.PendingResponse{}, "PendingEntry": protocol.PendingEntry{},
		"GrafanaGroupRow": protocol.GrafanaGroupRow{}, "GrafanaMemberRow": protocol.GrafanaMemberRow{}, "GrafanaShardRow": protocol.GrafanaShardRow{},
		"GrafanaAssignmentRow": protocol.GrafanaAssignmentRow{}, "GrafanaMessageRow": protocol.GrafanaMessageRow{},
		"GrafanaOptionRow": protocol.GrafanaOptionRow{},
		"SystemResponse":   protocol.SystemResponse{}, "SystemPart": protocol.SystemPart{}, "SystemProcess": protocol.SystemProcess{},
		"SystemSetting": protocol.SystemSetting{},
		"AuditResponse": protocol.AuditResponse{}, "AuditHead": protocol.AuditHead{}, "AuditRecord": protocol.AuditRecord{},
	}
}

// TestSchemasHaveTheFieldsOfTheGoTypes: all of them and no others; those that are always
// written are required, those that may be null say so.
func TestSchemasHaveTheFieldsOfTheGoTypes(t *testing.T) {
	t.Parallel()
	spec := openapitest.Load(t).Spec()
	for name, value := range schemas() {
		schema, there := spec.Components.Schemas[name]
		require.True(t, there, name)
		var fields []string
		for _, field := range reflect.VisibleFields(reflect.TypeOf(value)) {
			if field.Anonymous {
				continue // its fields follow
			}
			key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields = append(fields, key)
			require.NotNilf(t, schema.Value.Properties[key], "%s.%s", name, key)
			if strings.HasSuffix(name, "Request") || isReported(name) {
				continue
			}
			require.Equalf(t, options == "", slices.Contains(schema.Value.Required, key), "%s.%s is required as it is always written", name, key)
			if options == "" && field.Type.Kind() == reflect.Pointer {
				require.Truef(t, schema.Value.Properties[key].Value.Nullable, "%s.%s can be null", name, key)
			}
			if field.Type.Kind() != reflect.Pointer && name != "ShardConsumptionProgress" {
				require.Falsef(t, schema.Value.Properties[key].Value.Nullable, "%s.%s is never null", name, key)
			}
		}
		require.Len(t, schema.Value.Properties, len(fields), name)
	}
}

// isReported tells the parts of a request, in which less is required than is written.
func isReported(name string) bool {
	return name == "RevokingShardReport" || name == "ShardConsumptionProgress"
}

// TestEnumsOfAdditionsAreThoseOfTheGoConstants; those of the contract are compared with it.
func TestEnumsOfAdditionsAreThoseOfTheGoConstants(t *testing.T) {
	t.Parallel()
	spec := openapitest.Load(t).Spec()
	for schema, source := range map[string]struct{ file, kind string }{
		"EventCause": {"event.go", "EventCause"}, "EventAction": {"event.go", "EventAction"}, "HeartbeatReason": {"heartbeat.go", "Reason"},
		"DrainReason": {"migration.go", "DrainReason"}, "DrainProof": {"migration.go", "DrainProof"},
		"LagReason": {"monitoring.go", "LagReason"},
	} {
		var enum []string
		for _, value := range spec.Components.Schemas[schema].Value.Enum {
			if value != nil {
				enum = append(enum, fmt.Sprint(value))
			}
		}
		require.ElementsMatch(t, constants(t, source.file, source.kind), enum, schema)
	}
}
