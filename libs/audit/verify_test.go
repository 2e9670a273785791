package audit_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// tamper changes one thing of a chain of at least two records and says what.
func tamper(t *rapid.T, records []protocol.AuditRecord, way string) []protocol.AuditRecord {
	records = slices.Clone(records)
	at := rapid.IntRange(0, len(records)-1).Draw(t, "at")
	switch way {
	case "changed":
		changes := []func(*protocol.AuditRecord){
			func(r *protocol.AuditRecord) { r.Principal += "x" },
			func(r *protocol.AuditRecord) { r.Status++ },
			func(r *protocol.AuditRecord) { r.Requested = map[string]string{"force": "true"} },
			func(r *protocol.AuditRecord) { r.Time.Time = r.Time.Add(time.Millisecond) },
			func(r *protocol.AuditRecord) { r.Sequence += int64(len(records)) },
			func(r *protocol.AuditRecord) { r.PreviousHash += "0" },
			func(r *protocol.AuditRecord) { r.Hash = r.Hash[1:] + "0" },
			func(r *protocol.AuditRecord) { r.Chain += "x" },
		}
		rapid.SampledFrom(changes).Draw(t, "change")(&records[at])
	case "replaced": // with a hash of its own that is right
		records[at].Reason += "x"
		records[at].Hash = hash(t, records[at])
	case "removed": // the oldest ones are not shown by the chain
		at = max(at, 1)
		records = slices.Delete(records, at, rapid.IntRange(at+1, len(records)).Draw(t, "to"))
	case "swapped":
		other := rapid.IntRange(0, len(records)-1).Filter(func(i int) bool { return i != at }).Draw(t, "other")
		records[at], records[other] = records[other], records[at]
	case "twice":
		records = slices.Insert(records, rapid.IntRange(0, len(records)).Draw(t, "to"), records[at])
	default: // slipped in at the end
		forged, _, err := audit.Chain(headOf(records), protocol.AuditRecord{Reason: "x"})
		require.NoError(t, err)
		records = append(records, forged)
	}
	return records
}

func hash(t require.TestingT, record protocol.AuditRecord) string {
	sum, err := audit.Hash(record)
	require.NoError(t, err)
	return sum
}

func headOf(records []protocol.AuditRecord) protocol.AuditHead {
	last := records[len(records)-1]
	return protocol.AuditHead{Chain: last.Chain, Sequence: last.Sequence, Hash: last.Hash}
}

func TestWhateverIsDoneToAChainIsFound(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"changed", "replaced", "removed", "swapped", "twice", "slipped in"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				ids := make([]string, rapid.IntRange(2, 12).Draw(t, "length"))
				for i := range ids {
					ids[i] = strconv.Itoa(i)
				}
				records, head := build(t, "c", ids...)
				trimmed := rapid.IntRange(0, len(ids)-2).Draw(t, "trimmed")
				records = records[trimmed:]
				require.Empty(t, kinds(audit.Verify(records, head)), "whole before")
				require.NotEmpty(t, kinds(audit.Verify(tamper(t, records, way), head)))
			})
		})
	}
}

func TestVerifySaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	whole, head := build(t, "c", "a", "b", "c", "d")
	changed := slices.Clone(whole)
	changed[1].Principal = "eve"
	replaced := slices.Clone(changed)
	replaced[1].Hash = hash(t, replaced[1])
	last := slices.Clone(whole)
	last[3].Reason = "x"
	last[3].Hash = hash(t, last[3])
	other, _ := build(t, "c", "e", "f", "g", "h")
	longer, _ := build(t, "c", "a", "b", "c", "d", "e")
	for name, one := range map[string]struct {
		records []protocol.AuditRecord
		want    []audit.Finding
	}{
		"changed":        {changed, []audit.Finding{{audit.Changed, 2, "c", "record 2 was changed: its content has not its hash"}}},
		"replaced":       {replaced, []audit.Finding{{audit.Forged, 3, "c", "record 3 does not follow the record 2 that is there: one of the two was replaced"}}},
		"last replaced":  {last, []audit.Finding{{audit.Forged, 4, "c", "record 4 is another one than was written"}}},
		"one removed":    {slices.Delete(slices.Clone(whole), 1, 2), []audit.Finding{{audit.Missing, 2, "c", "record 2 is missing"}}},
		"two removed":    {slices.Delete(slices.Clone(whole), 1, 3), []audit.Finding{{audit.Missing, 2, "c", "records 2 to 3 are missing"}}},
		"end removed":    {whole[:2], []audit.Finding{{audit.EndMissing, 3, "c", "the chain ends with record 2, and had 4"}}},
		"all removed":    {nil, []audit.Finding{{audit.EndMissing, 1, "c", "the chain ends with record 0, and had 4"}}},
		"swapped":        {[]protocol.AuditRecord{whole[0], whole[2], whole[1], whole[3]}, []audit.Finding{{audit.Reordered, 2, "c", "record 2 stands behind record 3"}}},
		"another chain":  {other, []audit.Finding{{audit.Forged, 4, "c", "record 4 is another one than was written"}}},
		"slipped in":     {longer, []audit.Finding{{audit.Forged, 5, "c", "record 5 is there, and the newest written was 4"}}},
		"the same twice": {append(slices.Clone(whole), whole[3]), []audit.Finding{{audit.Forged, 4, "c", "there are two records 4"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, one.want, audit.Verify(one.records, head))
		})
	}
}

func TestATrimmedBeginningIsToldAndNoFault(t *testing.T) {
	t.Parallel()
	records, head := build(t, "c", "a", "b", "c")
	found := audit.Verify(records[1:], head)
	require.Len(t, found, 1)
	require.Equal(t, audit.Anchor, found[0].Kind)
	require.True(t, found[0].Kind.Note())
	require.Contains(t, found[0].Text, records[0].Hash, "whoever noted the hash can compare")
}

func TestEachChainOfALogIsVerifiedForItself(t *testing.T) {
	t.Parallel()
	first, _ := build(t, "run-1", "a", "b", "c")
	second, _ := build(t, "run-2", "d", "e", "f")
	mixed := []protocol.AuditRecord{first[0], second[0], first[1], second[1], second[2], first[2]}
	found := audit.Verify(mixed, nil)
	require.Empty(t, kinds(found))
	require.Equal(t, []audit.Kind{audit.EndUnknown, audit.EndUnknown}, []audit.Kind{found[0].Kind, found[1].Kind})
	mixed = slices.Delete(mixed, 3, 4)
	found = audit.Verify(mixed, nil)
	require.Equal(t, []audit.Kind{audit.Missing}, kinds(found))
	require.Equal(t, "run-2", found[1].Chain)
}

// story chains records of kinds that belong to one mutation, at seconds from the beginning.
func story(t *testing.T, records ...protocol.AuditRecord) []audit.Finding {
	t.Helper()
	head := protocol.AuditHead{Chain: "c"}
	for i := range records {
		var err error
		records[i], head, err = audit.Chain(head, records[i])
		require.NoError(t, err)
	}
	return audit.Verify(records, &head)
}

func event(kind protocol.AuditKind, id string, second int, intended bool) protocol.AuditRecord {
	at := protocol.Timestamp{Time: began().Add(time.Duration(second) * time.Second)}
	return protocol.AuditRecord{Kind: kind, RequestID: id, Operation: "SCALE_STREAM", Time: at, Intended: intended}
}

func TestAnIntentWithoutOutcomeIsFound(t *testing.T) {
	t.Parallel()
	const intent, outcome = protocol.AuditIntent, protocol.AuditOutcome
	require.Empty(t, story(t, event(intent, "a", 0, false), event(outcome, "a", 1, true)))
	found := story(t, event(intent, "a", 0, false), event(intent, "b", 1, false), event(outcome, "b", 600, true))
	require.Equal(t, []audit.Kind{audit.NoOutcome}, kinds(found))
	require.Equal(t, int64(1), found[0].Sequence)

	found = story(t, event(intent, "a", 0, false), event(outcome, "b", 1, false))
	require.Equal(t, []audit.Kind{audit.UnderWay}, []audit.Kind{found[0].Kind})
	require.Empty(t, kinds(found), "the newest may still be under way")

	found = story(t, event(intent, "a", 0, false), event(outcome, "a", 600, false))
	require.Equal(t, []audit.Kind{audit.NoOutcome}, kinds(found), "an outcome of what was never sent closes no intent")
	unsent := event(outcome, "a", 600, false)
	unsent.ErrorCode = string(protocol.CodeAuditUnavailable)
	require.Empty(t, story(t, event(intent, "a", 0, false), unsent), "but for one that was not sent because its intent was written too late")
	found = story(t, unsent, event(intent, "a", 0, false), event(outcome, "b", 600, true))
	require.Equal(t, []audit.Kind{audit.NoOutcome}, kinds(found), "which comes behind the intent")
	found = story(t, event(intent, "a", 0, false), event(intent, "a", 1, false), unsent)
	require.Equal(t, []audit.Kind{audit.NoOutcome}, kinds(found), "and closes one")
	require.Empty(t, story(t, event(intent, "a", 0, false), unsent, event(outcome, "a", 601, true)))
	found = story(t, event(intent, "a", 0, false), event(protocol.AuditReplay, "a", 600, true))
	require.Equal(t, []audit.Kind{audit.NoOutcome}, kinds(found), "nor does a replay")
	found = story(t, event(intent, "a", 0, false), event(intent, "a", 500, false), event(outcome, "a", 600, true))
	require.Equal(t, []audit.Kind{audit.UnderWay}, []audit.Kind{found[0].Kind}, "the older one of two with the same id is the first to end")
}
