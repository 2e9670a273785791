package group_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// The field cases of the coordinator's core. Each carries out the case and looks at what
// could go wrong in the same way elsewhere.

// newField returns a world with a group.
func newField(t *testing.T, shards int) *world {
	t.Helper()
	w := newWorld(t)
	w.g = group.New(w.cfg, group.Birth{
		StreamPrefix: "orders", ConsumerGroup: "g", Layout: group.Whole(shards), Lineage: w.nonce(), Identity: w.identity, Now: w.now,
	})
	w.servedAt = w.now
	return w
}

// beat sends one heartbeat, written as in the scripts, and returns its answer.
func (w *world) beat(line string) *protocol.HeartbeatResponse {
	w.t.Helper()
	req := w.request(w.t, line)
	w.last = nil
	w.apply([]*protocol.HeartbeatRequest{req}, w.snap())
	require.Len(w.t, w.last, 1)
	return w.last[0].Response
}

func (w *world) sleep(seconds int) {
	w.now += group.Millis(seconds) * 1000
	w.servedAt = w.now
}

// F26: a shard in revoke is handed back and then targeted at a third member while reports
// of the former epochs are under way: who may still read it is never forgotten.
func TestFieldF26ReleaseBookkeepingSurvivesTargetChanges(t *testing.T) {
	t.Parallel()
	w := newField(t, 2)
	w.beat("A")
	w.beat("B")
	w.beat("A own=0 rev=1:DRAINING:1") // shard 1 is on its way to B
	require.True(t, w.g.Holds[1].Told)

	w.beat("B epoch=-1 own=none") // handed back before A is done
	require.Equal(t, group.Hold{Member: "A", Incarnation: "a"}, w.g.Holds[1])
	epoch := w.known["A"].epoch
	a, _ := w.g.Find("A")
	require.Greater(t, a.Epoch, epoch, "it must be confirmed in a new epoch")

	w.beat("C") // and taken away again, for C
	require.Equal(t, "A", w.g.Holds[1].Member)
	require.Equal(t, "C", w.g.Target[1])
	require.Empty(t, indexes(w.beat("C").Assignment.AssignedShards))

	// A's release of the first revoke arrives: it is of an earlier epoch.
	w.beat("A own=0 rev=1:REVOKED lost")
	require.Equal(t, "A", w.g.Holds[1].Member, "released by a report from before the hand-back")
	require.Empty(t, indexes(w.beat("C").Assignment.AssignedShards))

	w.beat("A own=0 rev=1:DRAINING:1") // learns that it is told again
	require.Equal(t, "A", w.g.Holds[1].Member)
	w.beat("A own=0 rev=1:REVOKED")
	require.Equal(t, "C", w.g.Holds[1].Member)
}

// F27: epoch 0 from a member in every state that its record may be in. It is never refused
// for ever, whatever epoch the record has.
func TestFieldF27EpochZeroIsAlwaysLetInSoonerOrLater(t *testing.T) {
	t.Parallel()
	states := map[string]func(*world){
		"live":      func(*world) {},
		"fenced":    func(w *world) { w.beat("m as=P1 own=0+7 lost") },
		"draining":  func(w *world) { w.beat("n"); w.beat("m as=P1 own=0 rev=1:DRAINING:1 lost") },
		"leaving":   func(w *world) { w.beat("m as=P1 epoch=-1 own=0 lost") },
		"left":      func(w *world) { w.beat("m as=P1 epoch=-1 own=none lost") },
		"suspended": func(w *world) { w.beat("m as=P1 epoch=-2 own=none lost") },
		"expired":   func(w *world) { w.sleep(10); w.apply(nil, w.snap()) },
		"waiting": func(w *world) {
			w.sleep(5)
			w.beat("m as=P3")
			w.sleep(5)
			w.apply(nil, w.snap())
		},
	}
	for state, bring := range states {
		for _, who := range []string{"m as=P1", "m as=P2", "m as=P2 old"} {
			t.Run(strings.ReplaceAll(state+" "+who, " ", "_"), func(t *testing.T) {
				t.Parallel()
				w := newField(t, 2)
				w.beat("m as=P1")
				bring(w)
				same := who == "m as=P1"
				answer := w.beat(who + " epoch=0")
				waited := 0
				for answer.Status == protocol.StatusRetry {
					require.False(t, same, "the live incarnation itself is let in at once (J3)")
					require.Equal(t, protocol.ReasonMemberIDInUse, answer.Reason)
					waited++
					require.LessOrEqual(t, waited, 5, "the lease of the former life has run out")
					w.sleep(2)
					w.apply(nil, w.snap())
					answer = w.beat(who + " epoch=0")
				}
				require.Equal(t, protocol.StatusOK, answer.Status)
				if state == "live" && !same {
					require.NotZero(t, waited, "the seat is taken while its lease is live (J4)")
				}
			})
		}
	}
}

// F28: the last member leaves, expires, is fenced or suspends and stays away: the epochs
// stay together and the target is empty, so no alert about a stuck assignment.
func TestFieldF28TheLastMemberGoes(t *testing.T) {
	t.Parallel()
	tick := func(w *world) { w.apply(nil, w.snap()) }
	ends := map[string]func(*world){
		"leaves":   func(w *world) { w.beat("A epoch=-1 own=none") },
		"expires":  func(w *world) { w.sleep(10); tick(w) },
		"fenced":   func(w *world) { w.beat("A own=0+9"); w.sleep(10); tick(w) },
		"suspends": func(w *world) { w.beat("A epoch=-2 own=none"); w.sleep(10); tick(w) },
		"is silent while it leaves": func(w *world) {
			w.beat("A epoch=-1 own=0+1")
			w.sleep(10)
			tick(w)
		},
	}
	for how, end := range ends {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newField(t, 2)
			w.beat("A")
			end(w)
			require.Equal(t, w.g.GroupEpoch, w.g.AssignmentEpoch)
			require.Equal(t, []string{"", ""}, w.g.Target)
			require.Equal(t, []group.Hold{{}, {}}, w.g.Holds)
			require.False(t, w.g.HasListening())
			require.Equal(t, protocol.StatusOK, w.beat("B").Status, "and the next one gets everything")
			require.Equal(t, "B", w.g.Holds[1].Member)
		})
	}
}

// F30: two processes with one member id for a minute, each asking in its interval: one
// keeps the seat, the other is told why, and nothing is reassigned.
func TestFieldF30TwinsDoNotFenceEachOther(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"", " old"} {
		t.Run("kind"+kind, func(t *testing.T) {
			t.Parallel()
			w := newField(t, 2)
			w.beat("m as=P1" + kind)
			w.beat("n")
			w.beat("m as=P1" + kind) // releases what n is to have
			w.beat("m as=P1" + kind)
			w.beat("n")
			version := w.g.MetadataVersion
			for range 60 {
				w.sleep(1)
				require.Equal(t, protocol.StatusOK, w.beat("m as=P1"+kind).Status)
				second := w.beat("m as=P2" + kind)
				require.Equal(t, protocol.StatusRetry, second.Status)
				require.Equal(t, protocol.ReasonMemberIDInUse, second.Reason)
				require.Positive(t, *second.RetryAfterMs)
				w.beat("n")
			}
			require.Equal(t, version, w.g.MetadataVersion, "no structural commit in a minute")
		})
	}
}

// F32: no capacity of a member leaves a shard without owner: six shards stay with whoever
// lives, all members gone or going leave them open, and the next one gets them at once.
func TestFieldF32NoShardStaysWithoutOwner(t *testing.T) {
	t.Parallel()
	ends := map[string]string{"leaving": "epoch=-1 own=none", "suspended": "epoch=-2 own=none", "lapsed": ""}
	for how, goodbye := range ends {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newField(t, 6)
			for _, id := range []string{"A", "B", "C"} {
				w.beat(id)
			}
			for _, id := range []string{"A", "B", "C"} {
				w.beat(id) // all report, what was told is released
			}
			for _, id := range []string{"A", "B", "C"} {
				if goodbye != "" {
					w.beat(id + " " + goodbye)
				}
			}
			w.sleep(10)
			w.apply(nil, w.snap())
			require.Equal(t, []string{"", "", "", "", "", ""}, w.g.Target, "listed as without owner")
			require.Len(t, indexes(w.beat("D").Assignment.AssignedShards), 6)
		})
	}
}

// requestsOf reads heartbeats written as in the scripts.
func requestsOf(t *testing.T, w *world, lines ...string) []*protocol.HeartbeatRequest {
	t.Helper()
	requests := make([]*protocol.HeartbeatRequest, len(lines))
	for i, line := range lines {
		requests[i] = w.request(t, line)
	}
	return requests
}
