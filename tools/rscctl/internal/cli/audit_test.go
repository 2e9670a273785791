package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// chained returns so many records of a chain, oldest first, and its head.
func chained(t *testing.T, chain string, count int) ([]protocol.AuditRecord, protocol.AuditHead) {
	t.Helper()
	head := protocol.AuditHead{Chain: chain}
	var records []protocol.AuditRecord
	for i := range count {
		record := protocol.AuditRecord{
			Time: at(int64(i)), Kind: protocol.AuditOutcome, Operation: "SCALE_STREAM", StreamPrefix: "orders", Principal: "ann",
			Status: 202, Result: protocol.AuditAllowed, RequestID: "r" + strconv.Itoa(i+1), Roles: []string{"READ", "WRITE"}, Requested: map[string]string{},
		}
		var err error
		record, head, err = audit.Chain(head, record)
		require.NoError(t, err)
		records = append(records, record)
	}
	return records, head
}

func newestFirst(records ...protocol.AuditRecord) []protocol.AuditRecord {
	var turned []protocol.AuditRecord
	for i := range records {
		turned = append(turned, records[len(records)-1-i])
	}
	return turned
}

func TestTheAuditIsListedNewestFirst(t *testing.T) {
	t.Parallel()
	records, _ := chained(t, "redis", 3)
	refused := protocol.AuditRecord{
		Time: at(9), Kind: protocol.AuditOutcome, Operation: "FENCE_MEMBER", StreamPrefix: "orders", ConsumerGroup: "g", MemberID: "m\x1b1",
		Status: 403, Result: protocol.AuditRefused, ErrorCode: "FORBIDDEN", RequestID: "r9",
	}
	says := answers{
		"GET /audit?limit=100": {protocol.AuditResponse{Records: []protocol.AuditRecord{refused, records[2]}, Next: new("2-0")}},
		"GET /audit?cursor=2-0&limit=98": {
			protocol.AuditResponse{Records: newestFirst(records[:2]...)},
		},
		"GET /audit?limit=1": {protocol.AuditResponse{Records: []protocol.AuditRecord{refused}, Next: new("3-0")}},
		"GET /audit?consumerGroup=g&from=2026-01-02T00%3A00%3A00Z&limit=100&principal=ann&streamPrefix=orders&to=2026-01-03T00%3A00%3A00Z": {
			protocol.AuditResponse{Records: []protocol.AuditRecord{}},
		},
	}
	_, url := serve(t, says)
	const heads = "TIME                   WHO   OPERATION      STREAM/GROUP      KIND      RESULT    STATUS          REQUEST\n"
	require.Equal(t, outcome{out: heads +
		`2026-01-02T03:04:14Z   -     FENCE_MEMBER   orders/g/m\x1b1   OUTCOME   REFUSED   403 FORBIDDEN   r9` + "\n" +
		"2026-01-02T03:04:07Z   ann   SCALE_STREAM   orders            OUTCOME   ALLOWED   202             r3\n" +
		"2026-01-02T03:04:06Z   ann   SCALE_STREAM   orders            OUTCOME   ALLOWED   202             r2\n" +
		"2026-01-02T03:04:05Z   ann   SCALE_STREAM   orders            OUTCOME   ALLOWED   202             r1\n"},
		rscctl(t, scene{}, url, "audit list"))
	requireJSON(t, protocol.AuditResponse{Records: []protocol.AuditRecord{refused}, Next: new("3-0")},
		rscctl(t, scene{}, url, "audit list --limit 1 -o json").out)
	require.Equal(t, outcome{out: "No audit records.\n"}, rscctl(t, scene{}, url,
		"audit list --stream orders --group g --principal ann --from 2026-01-02T00:00:00Z --to 2026-01-03T01:00:00+01:00"))
}

func TestAWrongConditionOfTheAuditIsTheCommandLinesFault(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{})
	for _, line := range []string{"audit list --limit -1", "audit list --from yesterday", "audit list --to 2026-01-02", "audit list x", "audit verify x"} {
		require.Equal(t, 2, rscctl(t, scene{}, url, line).code, line)
	}
}

func TestAWholeAuditIsVerifiedPageByPage(t *testing.T) {
	t.Parallel()
	records, head := chained(t, "redis", 5)
	_, url := serve(t, answers{
		"GET /audit?limit=1000":            {protocol.AuditResponse{Records: newestFirst(records[3:]...), Next: new("4-0"), Head: &head}},
		"GET /audit?cursor=4-0&limit=1000": {protocol.AuditResponse{Records: []protocol.AuditRecord{}, Next: new("3-0")}},
		"GET /audit?cursor=3-0&limit=1000": {protocol.AuditResponse{Records: newestFirst(records[:3]...)}},
	})
	require.Equal(t, outcome{out: "The audit is whole: 5 records.\n" +
		"Its newest record is 5 with hash " + head.Hash + "; note it elsewhere to compare later.\n"},
		rscctl(t, scene{}, url, "audit verify"))
	requireJSON(t, verdict{Records: 5, Head: &head, Findings: []audit.Finding{}}, rscctl(t, scene{}, url, "audit verify -o json").out)
}

func TestALongAuditTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	says := answers{}
	records, head := chained(t, "redis", 12_000)
	for page := range 12 {
		call, next := "GET /audit?limit=1000", new(strconv.Itoa(page+1))
		if page > 0 {
			call = "GET /audit?cursor=" + strconv.Itoa(page) + "&limit=1000"
		}
		if page == 11 {
			next = nil
		}
		end := len(records) - 1000*page
		says[call] = []any{protocol.AuditResponse{Records: newestFirst(records[end-1000 : end]...), Next: next, Head: &head}}
	}
	got := inBubble(t.Context(), scene{}, &fake{answers: says}, "audit verify")
	require.Zero(t, got.code)
	require.Equal(t, "rscctl: 10000 records read\n", got.err)
}

func TestAnAuditThatWasTamperedWithFails(t *testing.T) {
	t.Parallel()
	records, head := chained(t, "redis", 4)
	records[1].Principal = "eve"
	_, url := serve(t, answers{"GET /audit?limit=1000": {
		protocol.AuditResponse{Records: newestFirst(records[0], records[1], records[3]), Head: &head},
	}})
	got := rscctl(t, scene{}, url, "audit verify")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, "FAULT  CHANGED  chain redis: record 2 was changed: its content has not its hash\n")
	require.Contains(t, got.out, "FAULT  MISSING  chain redis: record 3 is missing\n")
	require.NotContains(t, got.out, "is whole")
	require.Equal(t, "rscctl: the audit is not whole: 2 findings\n", got.err)
	require.Equal(t, 1, rscctl(t, scene{}, url, "audit verify -o json").code)
}

func TestWhatCannotBeVerifiedIsSaid(t *testing.T) {
	t.Parallel()
	records, _ := chained(t, "redis", 1)
	_, url := serve(t, answers{"GET /audit?limit=1000": {protocol.AuditResponse{Records: records}}})
	got := rscctl(t, scene{}, url, "audit verify")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.err, "scopes")
	_, url = serve(t, answers{"GET /audit?limit=1000": {refused{protocol.CodeRedisNotConfigured, "the audit goes to the log"}}})
	got = rscctl(t, scene{}, url, "audit verify")
	require.Equal(t, 1, got.code)
	require.Equal(t, "rscctl: cannot verify the audit: the audit goes to the log; verify its lines with: rscctl audit verify --file FILE\n", got.err)
	require.Equal(t, 1, rscctl(t, scene{}, url, "audit verify --file /no/such/file").code)
}

func TestTheLinesOfALogAreVerifiedEachRunForItself(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for _, run := range []string{"gateway-1/A", "gateway-1/B"} {
		records, _ := chained(t, run, 3)
		for _, record := range records {
			line, err := audit.Line(record)
			require.NoError(t, err)
			log.WriteString(`{"msg":"request","path":"/x"}` + "\n" + string(line))
		}
	}
	whole := log.String()
	verify := func(text string) outcome {
		return inBubble(t.Context(), scene{in: text}, &fake{}, "audit verify --file -")
	}
	got := verify(whole)
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.out, "The audit is whole: 6 records.\n")
	require.Equal(t, 2, strings.Count(got.out, "note  END_UNKNOWN"))
	lines := strings.SplitAfter(whole, "\n")

	for text, want := range map[string]string{
		strings.Replace(whole, `"status":202`, `"status":500`, 1):                 "FAULT  CHANGED  chain gateway-1/A: record 1",
		strings.Join(append(append([]string{}, lines[:3]...), lines[4:]...), ""):  "FAULT  MISSING  chain gateway-1/A: record 2",
		strings.Replace(whole, `"kind":`, `"kind":"INTENT","kind":`, 1):           "FAULT  CHANGED  chain gateway-1/A: line 2 of - has not the form",
		strings.Join([]string{lines[3], lines[1], lines[5]}, ""):                  "FAULT  REORDERED  chain gateway-1/A: record 1",
		strings.Join([]string{lines[1], lines[3], lines[5][:50], "\n", ""}, "\n"): "note  UNREADABLE  chain -: line 5 of - is not whole",
	} {
		got := verify(text)
		require.Contains(t, got.out, want)
		require.Equal(t, strings.Contains(got.out, "FAULT"), got.code == 1)
	}

	first, second := filepath.Join(t.TempDir(), "1"), filepath.Join(t.TempDir(), "2")
	require.NoError(t, os.WriteFile(first, []byte(strings.Join(lines[:4], "")), 0o600))
	require.NoError(t, os.WriteFile(second, []byte(strings.Join(lines[4:], "")), 0o600))
	got = inBubble(t.Context(), scene{}, &fake{}, "audit verify --file '"+first+"' --file '"+second+"'")
	require.Contains(t, got.out, "The audit is whole: 6 records.\n")
	got = inBubble(t.Context(), scene{}, &fake{}, "audit verify --file '"+second+"'")
	require.Contains(t, got.out, "note  ANCHOR  chain gateway-1/A: the chain begins with record 3")
}
