package audit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func began() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// build chains outcomes with these request ids, one second apart.
func build(t require.TestingT, chain string, ids ...string) ([]protocol.AuditRecord, *protocol.AuditHead) {
	head := protocol.AuditHead{Chain: chain}
	var records []protocol.AuditRecord
	for i, id := range ids {
		record := protocol.AuditRecord{
			Kind: protocol.AuditOutcome, RequestID: id, Time: protocol.Timestamp{Time: began().Add(time.Duration(i) * time.Second)},
			Requested: map[string]string{}, Roles: []string{},
		}
		var err error
		record, head, err = audit.Chain(head, record)
		require.NoError(t, err)
		records = append(records, record)
	}
	return records, &head
}

// kinds are those of the findings that are faults.
func kinds(findings []audit.Finding) []audit.Kind {
	var found []audit.Kind
	for _, finding := range findings {
		if !finding.Kind.Note() {
			found = append(found, finding.Kind)
		}
	}
	return found
}

func TestAChainCountsFromOneAndEachRecordNamesTheOneBefore(t *testing.T) {
	t.Parallel()
	records, head := build(t, "c", "a", "b", "c")
	require.Empty(t, records[0].PreviousHash)
	for i, record := range records {
		require.Equal(t, int64(i+1), record.Sequence)
		require.Equal(t, "c", record.Chain)
		require.Len(t, record.Hash, 64)
		if i > 0 {
			require.Equal(t, records[i-1].Hash, record.PreviousHash)
		}
	}
	require.Equal(t, &protocol.AuditHead{Chain: "c", Sequence: 3, Hash: records[2].Hash}, head)
	require.Empty(t, audit.Verify(records, head))
	require.Empty(t, audit.Verify(nil, &protocol.AuditHead{Chain: "c"}), "nothing was ever written")
}

func TestARecordIsOneLineOfPrintableASCII(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		record := protocol.AuditRecord{Principal: text, Reason: text, Requested: map[string]string{text: text}}
		line, err := audit.Encode(record)
		require.NoError(t, err)
		for _, c := range line {
			require.True(t, ' ' <= c && c < 0x7f, "%q", c)
		}
		var back protocol.AuditRecord
		require.NoError(t, json.Unmarshal(line, &back))
		if utf8.ValidString(text) {
			require.Equal(t, text, back.Reason)
		}
		before, err := audit.Hash(record)
		require.NoError(t, err)
		after, err := audit.Hash(back)
		require.NoError(t, err)
		require.Equal(t, before, after, "a record that was stored and read has the same hash")
	})
}

func TestTextsCannotForgeFieldsOrLines(t *testing.T) {
	t.Parallel()
	for text, escaped := range map[string]string{
		"a\r\nb": `a\r\nb`, "\x00": `\u0000`, "\x1b[2J": `\u001b[2J`, "\u2028": `\u2028`, "\u202e": `\u202e`, "\x7f": `\u007f`,
		"\u009b": `\u009b`, "\U000e0001": `\udb40\udc01`, `","status":200,"x":"`: `\",\"status\":200,\"x\":\"`, "<b>": "<b>",
	} {
		line, err := audit.Encode(protocol.AuditRecord{Reason: text})
		require.NoError(t, err)
		require.Contains(t, string(line), `"reason":"`+escaped+`"`)
		require.Equal(t, 1, strings.Count(string(line), `"status":`))
	}
}

func TestWhatIsNotThereIsEmptyAndNeverNull(t *testing.T) {
	t.Parallel()
	line, err := audit.Encode(protocol.AuditRecord{})
	require.NoError(t, err)
	require.NotContains(t, string(line), "null")
	empty, err := audit.Encode(protocol.AuditRecord{Requested: map[string]string{}, Roles: []string{}})
	require.NoError(t, err)
	require.Equal(t, string(line), string(empty))
}

func TestTheHashIsThatOfThisForm(t *testing.T) {
	t.Parallel()
	hash, err := audit.Hash(protocol.AuditRecord{Reason: "zwölf\n", Hash: "not part of it", Time: protocol.Timestamp{Time: began()}})
	require.NoError(t, err)
	require.Equal(t, "8a7365d45ac49af1471e118874ad771ef509e5fdcb8cb5f14d320e5f32e69655", hash, "a change of the form breaks every chain that is there")
}

func TestATextIsQuotedAsARecordHasIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		quoted, err := audit.Quote(text)
		require.NoError(t, err)
		line, err := audit.Encode(protocol.AuditRecord{Principal: text})
		require.NoError(t, err)
		require.Contains(t, string(line), `,"principal":"`+quoted+`","roles":`)
	})
}
