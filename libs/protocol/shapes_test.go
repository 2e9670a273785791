package protocol_test

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// contract is what these tests read of the original service's contract.
type contract struct {
	Components struct {
		Schemas map[string]struct {
			Required   []string       `yaml:"required"`
			Properties map[string]any `yaml:"properties"`
			Enum       []string       `yaml:"enum"`
		} `yaml:"schemas"`
	} `yaml:"components"`
	ErrorCodes []struct {
		Status     int    `yaml:"status"`
		StatusName string `yaml:"statusName"`
		Code       string `yaml:"code"`
	} `yaml:"x-errorCodes"`
}

func shapes(t *testing.T) contract {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "contract", "shapes.yaml"))
	require.NoError(t, err)
	var c contract
	require.NoError(t, yaml.Unmarshal(data, &c))
	return c
}

// TestFieldsAreThoseOfTheContract: the contract's fields, and beside them exactly the
// additions that the wire contract and the doc comments name.
func TestFieldsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	schemas := shapes(t).Components.Schemas
	for name, test := range map[string]struct {
		value any
		more  []string
	}{
		"HeartbeatRequest":          {protocol.HeartbeatRequest{}, []string{"incarnation", "sequence", "lineage", "waitMs"}},
		"HeartbeatResponse":         {protocol.HeartbeatResponse{}, []string{"leaseMs", "lineage", "reason", "retryAfterMs"}},
		"AssignmentView":            {protocol.Assignment{}, nil},
		"RuntimeConsumerCapacity":   {protocol.Capacity{}, nil},
		"ShardId":                   {protocol.ShardID{}, nil},
		"RevokingShardReport":       {protocol.RevokingShard{}, nil},
		"ShardConsumptionProgress":  {protocol.ShardProgress{}, []string{"error"}},
		"LoginRequest":              {protocol.LoginRequest{}, nil},
		"LoginResponse":             {protocol.LoginResponse{}, nil},
		"MonitoringSessionResponse": {protocol.SessionResponse{}, []string{"scopes"}},
		"CreateStreamRequest":       {protocol.CreateStreamRequest{}, []string{"consumerGroups"}},
		"StreamCreateResponse":      {protocol.StreamCreateResponse{}, []string{"consumerGroups"}},
		"CreateGroupRequest":        {protocol.CreateGroupRequest{}, []string{"initialPosition"}},
		"DeleteGroupRequest":        {protocol.DeleteRequest{}, []string{"deleteStreams"}},
		"GroupResponse":             {protocol.GroupResponse{}, []string{"lineage", "unassignedShards", "lostShards", "surplusMembers", "barrierUntil"}},
		"MemberMetadata":            {protocol.MemberMetadata{}, []string{"stateDetail", "incarnation", "successor"}},
		"AssignmentsResponse":       {protocol.AssignmentsResponse{}, nil},
		"ProducerRoutingResponse":   {protocol.ProducerRouting{}, []string{"leaseMs", "lineage", "routingProtocol"}},
		"ProducerRoutingShard":      {protocol.RoutingShard{}, nil},
		"ErrorResponse":             {protocol.ErrorResponse{}, []string{"requestId", "retriable"}},
		"ScaleStreamRequest":        {protocol.ScaleRequest{}, nil},
		"ScaleGroupRequest":         {protocol.ScaleRequest{}, nil},
		"StreamScaleResponse":       {protocol.StreamScaleResponse{}, nil},
		"RollbackMigrationRequest":  {protocol.RollbackRequest{}, nil},
		"Migration":                 {protocol.Migration{}, []string{"requestedBy", "reason", "rollbackAllowed", "progress"}},
		"MigrationsResponse":        {protocol.MigrationsResponse{}, nil},
		"ReleaseVersion":            {protocol.ReleaseVersion{}, nil},
		"SupportedVersionRange":     {protocol.VersionRange{}, nil},

		"CoordinationTimingDefaults":       {protocol.TimingValues{}, nil},
		"CoordinationVersionSupport":       {protocol.VersionSupport{}, nil},
		"CoordinatorCompatibilityResponse": {protocol.CompatibilityResponse{}, nil},

		"StreamShardOffsetsResponse":  {protocol.StreamShardOffsetsResponse{}, append(groupSignals(), "producedPerSecond", "consumedPerSecond")},
		"StreamShardOffset":           {protocol.StreamShardOffset{}, append(shardSignals(), "lagKnown", "producedPerSecond", "consumedPerSecond")},
		"ConsumptionProgressResponse": {protocol.ConsumptionProgressResponse{}, nil},
		"ConsumerShardProgress":       {protocol.ConsumerShardProgress{}, []string{"error"}},
		"StreamMessagesPageResponse":  {protocol.StreamMessagesPageResponse{}, nil},
		"StreamMessageRecord":         {protocol.StreamMessageRecord{}, []string{"base64Fields", "cutFields"}},
		"GrafanaGroupRow":             {protocol.GrafanaGroupRow{}, append(groupSignals(), "samples")},
		"GrafanaMemberRow":            {protocol.GrafanaMemberRow{}, nil},
		"GrafanaShardRow":             {protocol.GrafanaShardRow{}, shardSignals()},
		"GrafanaAssignmentRow":        {protocol.GrafanaAssignmentRow{}, nil},
		"GrafanaMessageRow":           {protocol.GrafanaMessageRow{}, []string{"base64Fields", "cutFields"}},
		"GrafanaOptionRow":            {protocol.GrafanaOptionRow{}, nil},
	} {
		schema, found := schemas[name]
		require.True(t, found, name)
		require.ElementsMatch(t, append(slices.Collect(maps.Keys(schema.Properties)), test.more...), jsonNames(test.value), name)
	}
}

// TestRequiredFieldsAreAlwaysWritten: a null is written as null, not left out.
func TestRequiredFieldsAreAlwaysWritten(t *testing.T) {
	t.Parallel()
	schemas := shapes(t).Components.Schemas
	for name, value := range map[string]any{
		"HeartbeatResponse": protocol.HeartbeatResponse{}, "AssignmentView": protocol.Assignment{}, "GroupResponse": protocol.GroupResponse{},
		"MemberMetadata": protocol.MemberMetadata{}, "AssignmentsResponse": protocol.AssignmentsResponse{}, "ErrorResponse": protocol.ErrorResponse{},
		"ProducerRoutingResponse": protocol.ProducerRouting{}, "StreamCreateResponse": protocol.StreamCreateResponse{},
		"Migration": protocol.Migration{}, "MigrationsResponse": protocol.MigrationsResponse{}, "StreamScaleResponse": protocol.StreamScaleResponse{},
		"StreamShardOffsetsResponse": protocol.StreamShardOffsetsResponse{}, "StreamShardOffset": protocol.StreamShardOffset{},
		"ConsumptionProgressResponse": protocol.ConsumptionProgressResponse{}, "ConsumerShardProgress": protocol.ConsumerShardProgress{},
		"StreamMessagesPageResponse": protocol.StreamMessagesPageResponse{}, "StreamMessageRecord": protocol.StreamMessageRecord{},
		"GrafanaGroupRow": protocol.GrafanaGroupRow{}, "GrafanaMemberRow": protocol.GrafanaMemberRow{}, "GrafanaShardRow": protocol.GrafanaShardRow{},
		"GrafanaAssignmentRow": protocol.GrafanaAssignmentRow{}, "GrafanaMessageRow": protocol.GrafanaMessageRow{},
		"GrafanaOptionRow": protocol.GrafanaOptionRow{},
	} {
		written := reflect.TypeOf(value)
		for _, field := range schemas[name].Required {
			require.Contains(t, jsonNames(value), field, name)
		}
		for f := range written.Fields() {
			key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			require.False(t, options != "" && slices.Contains(schemas[name].Required, key), "%s.%s may be left out", name, key)
		}
	}
}

func TestEnumsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	schemas := shapes(t).Components.Schemas
	for name, values := range map[string][]string{
		"HeartbeatStatus": texts(protocol.StatusOK, protocol.StatusRetry, protocol.StatusSyncMetadata, protocol.StatusRevokePending,
			protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch, protocol.StatusUnsupportedProtocol, protocol.StatusInvalidRequest),
		"RevokingShardState": texts(protocol.Revoking, protocol.Draining, protocol.Revoked),
		"GroupState":         texts(protocol.GroupEmpty, protocol.GroupAssigning, protocol.GroupReconciling, protocol.GroupStable),
		"MemberState": texts(protocol.MemberStarting, protocol.MemberActive, protocol.MemberLeaving, protocol.MemberExpired,
			protocol.MemberFenced),
		"MigrationState": texts(protocol.MigrationPreparing, protocol.MigrationActive, protocol.MigrationDraining,
			protocol.MigrationDeprecated, protocol.MigrationRollingBack, protocol.MigrationRolledBack),
		"StreamMessagePageDirection": texts(protocol.DirectionForward, protocol.DirectionBackward),
	} {
		require.ElementsMatch(t, schemas[name].Enum, values, name)
	}
}

func TestOwnerStatesAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	property, ok := shapes(t).Components.Schemas["GrafanaShardRow"].Properties["ownerState"].(map[string]any)
	require.True(t, ok)
	require.ElementsMatch(t, property["enum"], texts(protocol.OwnerUnassigned, protocol.OwnerPendingAck, protocol.OwnerCurrent, protocol.OwnerTransitioning))
}

func texts[T ~string](values ...T) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}

// groupSignals and shardSignals are the additions of the monitor.
func groupSignals() []string { return jsonNames(protocol.GroupSignals{}) }

func shardSignals() []string { return jsonNames(protocol.ShardSignals{}) }

func jsonNames(value any) []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(value)) {
		if f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
