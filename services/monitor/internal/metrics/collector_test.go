package metrics_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/metrics"
)

const (
	ofGroup    = "{group=billing,stream=orders}"
	ofShard0   = "{group=billing,shard=0,stream=orders,stream_key=orders:0}"
	ofShard1   = "{group=billing,shard=1,stream=orders,stream_key=orders:1}"
	ofMember   = "{group=billing,member=one,stream=orders}"
	ofReporter = "{group=billing,member=one,shard=0,stream=orders}"
)

// told are the beginnings of all that the coordinator tells.
func told() []string {
	return []string{
		"group_epoch", "assignment_epoch", "members{", "group_stable", "migration_", "revoke_", "invariant_violations",
		"unassigned_", "lost_", "surplus_", "barrier_", "shards", "drain_", "member_", "consumer_shard_",
	}
}

func TestRoundIsShownWithItsGroupsMembersAndShards(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{MemberSeries: true, Stale: time.Minute})
	s.publish(roundOf(1))
	s.publish(roundOf(2))
	at := began().Add(10 * time.Second)
	s.shows(map[string]float64{
		"group_epoch" + ofGroup: 5, "assignment_epoch" + ofGroup: 4, "group_stable" + ofGroup: 1, "shards" + ofGroup: 2,
		"members{group=billing,state=total,stream=orders}": 1, "members{group=billing,state=active,stream=orders}": 1,
		"members{group=billing,state=expired,stream=orders}": 0, "revoke_pending" + ofGroup: 1,
		"migration_active" + ofGroup: 0, "migration_active_age_seconds" + ofGroup: 0,
		"invariant_violations" + ofGroup: 0, "invariant_violation_total" + ofGroup: 0, "barrier_active" + ofGroup: 0,
		"unassigned_shards" + ofGroup: 0, "lost_shards" + ofGroup: 0, "surplus_members" + ofGroup: 0, "trimmed_unread_alarm" + ofGroup: 0,

		"member_active" + ofMember: 1, "member_heartbeat_age_seconds" + ofMember: 2, "member_lease_remaining_seconds" + ofMember: 7,
		"member_runtime_max_concurrency" + ofMember: 8, "member_active_workers" + ofMember: 3,
		"member_current_shards" + ofMember: 1, "member_revoking_shards" + ofMember: 1,

		"consumer_shard_last_delivered_ms" + ofReporter: 7, "consumer_shard_last_delivered_seq" + ofReporter: 3,
		"consumer_shard_last_acked_ms" + ofReporter: 7, "consumer_shard_last_acked_seq" + ofReporter: 1,
		"consumer_shard_pending" + ofReporter: 2, "consumer_shard_progress_age_seconds" + ofReporter: 3,
		"consumer_shard_progress_updated_at_seconds" + ofReporter: float64(at.Unix() - 1),

		"shard_stream_length" + ofShard0: 120, "shard_pending" + ofShard0: 1, "shard_lag" + ofShard0: 4,
		"shard_memory_usage_bytes" + ofShard1: 4096, "shard_produced_per_second" + ofShard1: 2, "shard_consumed_per_second" + ofShard1: 2,
		"shard_last_record_ms" + ofShard0: float64(at.UnixMilli() - 10), "shard_last_record_seq" + ofShard0: 0,
		"shard_last_generated_ms" + ofShard0: float64(at.UnixMilli() - 10), "shard_last_generated_seq" + ofShard0: 0,
		"shard_group_last_delivered_ms" + ofShard0: float64(at.UnixMilli() - 2000), "shard_group_last_delivered_seq" + ofShard0: 0,
		"shard_consumer_last_acked_ms" + ofShard0: 7, "shard_consumer_last_acked_seq" + ofShard0: 1,
		"shard_consumer_last_acked_ms" + ofShard1: -1, "shard_consumer_last_acked_seq" + ofShard1: -1,
		"shard_oldest_unread_age_seconds" + ofShard0: 1, "shard_oldest_pending_age_seconds" + ofShard0: 2, "shard_trimmed_unread" + ofShard0: 0,

		"monitor_lease_held{}": 1, "observation_round_total{}": 2, "observation_round_failed_total{}": 0, "observation_round_skipped_total{}": 0,
		"observation_round_duration_seconds{}": 0.03, "observation_age_seconds{}": 2, "monitor_up{}": 1,
	})
}

// monitoring, Prometheus: a sum over monitors counts nothing twice.
func TestOnlyTheHolderOfTheLeaseShowsMoreThanItself(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{MemberSeries: true})
	s.holds, s.skipped = false, 3
	s.publish(roundOf(1))
	got := s.series()
	require.Len(t, got, 7)
	s.shows(map[string]float64{
		"monitor_lease_held{}": 0, "observation_round_total{}": 1, "observation_round_failed_total{}": 0, "observation_round_skipped_total{}": 3,
		"observation_round_duration_seconds{}": 0.03, "observation_age_seconds{}": 2, "monitor_up{}": 1,
	})
}

func TestMonitorBeforeItsFirstRoundShowsNoAgesAndNoGroups(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{})
	require.Len(t, s.series(), 4)
}

// Unknown values are left out, never 0.
func TestWhatIsNotKnownHasNoSeries(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{})
	round := roundOf(1)
	shard := &round.Streams[0].Shards[0]
	shard.Memory = nil
	unknown := shard.Groups["billing"]
	unknown.Lag, unknown.Tail, unknown.FirstUnreadID, unknown.OldestPendingID = nil, nil, nil, nil
	shard.Groups["billing"] = unknown
	s.publish(round)
	s.hides("shard_lag"+ofShard0, "shard_memory_usage_bytes"+ofShard0, "shard_oldest_unread_age_seconds"+ofShard0,
		"shard_oldest_pending_age_seconds"+ofShard0, "shard_produced_per_second", "shard_consumed_per_second", "time_to_drain_seconds")
	s.shows(map[string]float64{
		"shard_lag" + ofShard1: 4, "shard_stream_length" + ofShard0: 110,
		"lag_unknown_shards{group=billing,reason=LAG_UNKNOWN,stream=orders}": 1,
	})
}

// F01: a lag that was counted is known, whatever Redis says of it.
func TestLagThatWasCountedIsNotUnknown(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{})
	round := roundOf(1)
	counted := round.Streams[0].Shards[0].Groups["billing"]
	counted.Lag = nil
	round.Streams[0].Shards[0].Groups["billing"] = counted
	s.publish(round)
	s.shows(map[string]float64{"shard_lag" + ofShard0: 4})
	s.hides("lag_unknown_shards")
}

// F35: one broken key is its own trouble.
func TestBrokenShardIsNamedAndShowsNoNumbers(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{})
	round := roundOf(1)
	round.Streams[0].Shards[0].Problem = facts.ProblemWrongType
	round.Streams[0].Shards[1].Groups = nil
	s.publish(round)
	s.hides("shard_stream_length"+ofShard0, "shard_last_record_ms"+ofShard0, "shard_pending", "shard_lag", "shard_group_last_delivered_ms")
	s.shows(map[string]float64{
		"shard_stream_length" + ofShard1:                                    110,
		"problem_shards{group=billing,problem=WRONG_TYPE,stream=orders}":    1,
		"problem_shards{group=billing,problem=GROUP_MISSING,stream=orders}": 1,
		"monitor_up{}": 1,
	})
	s.hides("trimmed_unread_alarm")
	round.Streams[0].Shards[0].Problem = facts.ProblemUnreachable
	s.publish(round)
	s.shows(map[string]float64{"monitor_up{}": 0})
}

func TestWhileTheCoordinatorIsSilentOnlyWhatRedisSaysIsShown(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{MemberSeries: true})
	s.publish(roundOf(1))
	silent := roundOf(2)
	silent.Problem = "connection refused"
	s.publish(silent)
	s.hides(told()...)
	s.shows(map[string]float64{"shard_lag" + ofShard0: 4, "monitor_up{}": 0, "observation_round_failed_total{}": 1})
}

func TestGroupThatCannotBeReadIsNamedAndHidesNoOther(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{MemberSeries: true})
	round := roundOf(1)
	round.Groups = append(round.Groups, facts.Group{
		View: protocol.GroupResponse{StreamPrefix: "other", ConsumerGroup: "broken"}, Problem: "METADATA_CORRUPT",
	})
	s.publish(round)
	s.shows(map[string]float64{
		"group_problem{group=broken,problem=METADATA_CORRUPT,stream=other}": 1, "group_epoch" + ofGroup: 5, "monitor_up{}": 0,
	})
	s.hides("group_epoch{group=broken", "members{group=broken", "trimmed_unread_alarm{group=broken")
}

func TestGroupsAndMembersThatAreGoneLoseTheirSeries(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{MemberSeries: true})
	s.publish(roundOf(1))
	without := roundOf(2)
	without.Groups[0].Members = nil
	s.publish(without)
	s.hides("member_", "consumer_shard_")
	empty := roundOf(3)
	empty.Groups, empty.Streams = nil, nil
	s.publish(empty)
	for name := range s.series() {
		require.NotContains(t, name, "orders")
	}
}

func TestMemberSeriesCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{})
	s.publish(roundOf(1))
	s.hides("member_", "consumer_shard_")
	s.shows(map[string]float64{"members{group=billing,state=total,stream=orders}": 1})
}

// Members are not trusted: one that reports a shard twice, or under a name with anything in
// it, costs nobody the scrape.
func TestOddReportsDoNotBreakTheScrape(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{MemberSeries: true})
	round := roundOf(1)
	member := round.Groups[0].Members[0]
	again := member.ShardProgress[0]
	again.PendingCount = 99
	odd := "no id"
	again.LastAckedID = &odd
	member.ShardProgress = append(member.ShardProgress, again)
	evil := member
	evil.MemberID = "x\"} 1\nup{y=\"\\"
	binary := member
	binary.MemberID = "\xff\xfe"
	late := member
	late.MemberID, late.LastHeartbeatAt, late.MemberLeaseExpiresAt = "late", protocol.Timestamp{Time: s.now.Add(time.Hour)}, protocol.Timestamp{}
	late.ShardProgress = []protocol.ShardProgress{{Shard: protocol.ShardID{ShardIndex: 9}, LastAckedID: &odd}}
	round.Groups[0].Members = []protocol.MemberMetadata{member, member, evil, binary, late}
	s.publish(round)
	s.shows(map[string]float64{
		"consumer_shard_pending" + ofReporter:                                                         2,
		"member_active{group=billing,member=" + evil.MemberID + ",stream=orders}":                     1,
		"member_heartbeat_age_seconds{group=billing,member=late,stream=orders}":                       0,
		"consumer_shard_last_acked_ms{group=billing,member=late,shard=9,stream=orders}":               -1,
		"consumer_shard_progress_updated_at_seconds{group=billing,member=late,shard=9,stream=orders}": 0,
	})
	s.hides("member_lease_remaining_seconds{group=billing,member=late", "consumer_shard_progress_age_seconds{group=billing,member=late")
}

func TestViolationsAreCountedWhenTheyComeUp(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{})
	seen := func(number int64, problem string, violations ...string) {
		round := roundOf(number)
		round.Groups[0].Assignments.InvariantViolations, round.Problem = violations, problem
		s.publish(round)
	}
	total := func(want float64) { s.shows(map[string]float64{"invariant_violation_total" + ofGroup: want}) }
	seen(1, "", "a", "b")
	total(2)
	seen(2, "", "b", "c", "c")
	s.shows(map[string]float64{"invariant_violations" + ofGroup: 3})
	total(3)
	seen(3, "silent", "z")
	total(3)
	seen(4, "", "b", "c")
	total(3)
	seen(5, "")
	seen(6, "", "b")
	total(4)
	gone := roundOf(7)
	gone.Groups = nil
	s.publish(gone)
	s.hides("invariant_violation_total")
}

func TestMigrationHasAnAgeAndRoundsGrowOld(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{Stale: time.Minute})
	round := roundOf(1)
	round.Groups[0].View.ActiveMigration = &protocol.Migration{CreatedAt: protocol.Timestamp{Time: round.At.Add(-time.Hour)}}
	s.publish(round)
	s.shows(map[string]float64{"migration_active" + ofGroup: 1, "migration_active_age_seconds" + ofGroup: 3602})
	s.now = s.now.Add(time.Minute)
	s.shows(map[string]float64{"monitor_up{}": 0, "observation_age_seconds{}": 62})
}

// The names that the original had, with their labels (contract, Metrics).
func TestMetricsOfTheOriginalAreDescribedWithTheirLabels(t *testing.T) {
	t.Parallel()
	group, member := "{stream,group}", "{stream,group,member}"
	reporter, shard := "{stream,group,member,shard}", "{stream,group,shard,stream_key}"
	contract := map[string]string{
		"group_epoch": group, "assignment_epoch": group, "members": "{stream,group,state}",
		"migration_active": group, "migration_active_age_seconds": group, "revoke_pending": group,
		"invariant_violations": group, "invariant_violation_total": group,
		"member_active": member, "member_heartbeat_age_seconds": member, "member_lease_remaining_seconds": member,
		"member_runtime_max_concurrency": member, "member_active_workers": member, "member_current_shards": member, "member_revoking_shards": member,
		"consumer_shard_pending": reporter, "consumer_shard_progress_updated_at_seconds": reporter, "consumer_shard_progress_age_seconds": reporter,
		"shard_stream_length": shard, "shard_pending": shard, "shard_lag": shard, "shard_memory_usage_bytes": shard,
	}
	for _, part := range []string{"ms", "seq"} {
		for name, labels := range map[string]string{
			"consumer_shard_last_delivered": reporter, "consumer_shard_last_acked": reporter, "shard_last_record": shard,
			"shard_last_generated": shard, "shard_group_last_delivered": shard, "shard_consumer_last_acked": shard,
		} {
			contract[name+"_"+part] = labels
		}
	}
	described := make(chan *prometheus.Desc, 200)
	newScene(t, metrics.Config{}).collector.Describe(described)
	close(described)
	labels, shape := map[string]string{}, regexp.MustCompile(`fqName: "redis_stream_coord_(\w+)".* variableLabels: (\S*})}`)
	for one := range described {
		found := shape.FindStringSubmatch(one.String())
		require.Len(t, found, 3, one.String())
		labels[found[1]] = found[2]
	}
	for name, want := range contract {
		require.Equal(t, want, labels[name], name)
	}
}

func TestNamesFollowTheConventionsButThoseOfTheOriginal(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{MemberSeries: true})
	s.publish(roundOf(1))
	problems, err := testutil.GatherAndLint(s.registry)
	require.NoError(t, err)
	for _, one := range problems {
		if strings.HasSuffix(one.Metric, "_ms") { // a part of a record id, named by the original
			continue
		}
		require.Fail(t, "a name is against the conventions", "%s: %s", one.Metric, one.Text)
	}
}
