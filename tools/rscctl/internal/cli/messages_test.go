package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	getMerged = "GET /monitoring/grafana/messages?"
	getShard  = "GET /monitoring/streams/orders/groups/g/shards/3/messages?"
)

func record(id string, fields map[string]string) protocol.StreamMessageRecord {
	when := at(0)
	return protocol.StreamMessageRecord{
		StreamPrefix: "orders", ConsumerGroup: "g", Shard: protocol.ShardID{ShardIndex: 3}, StreamKey: "orders:3", RecordID: id,
		Fields: fields, RecordTimestampMs: new(when.UnixMilli()), RecordTime: &when, Base64Fields: []string{}, CutFields: []string{},
	}
}

func row(one protocol.StreamMessageRecord, next *string) protocol.GrafanaMessageRow {
	fields, _ := json.Marshal(one.Fields)
	return protocol.GrafanaMessageRow{
		StreamPrefix: one.StreamPrefix, ConsumerGroup: one.ConsumerGroup, ShardIndex: one.Shard.ShardIndex, StreamKey: one.StreamKey,
		RecordID: one.RecordID, Payload: one.Payload, FieldsJSON: string(fields), PageNextCursor: next,
		RecordTimestampMs: one.RecordTimestampMs, RecordTime: one.RecordTime, Base64Fields: one.Base64Fields, CutFields: one.CutFields,
	}
}

// strange is a record of which everything would do harm on a terminal.
func strange() protocol.StreamMessageRecord {
	one := record("2-0", map[string]string{"a\x1b[2J": "x\ny\u202e", "bin": "/w==", "long": strings.Repeat("z", 70_000)})
	one.Base64Fields, one.CutFields = []string{"bin"}, []string{"long"}
	return one
}

const merged = "consumerGroup=g&direction=BACKWARD&limit=25&shardIndex=all&streamPrefix=orders"

func TestRecordsOfAllShardsAreOneTable(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{getMerged + merged: {[]protocol.GrafanaMessageRow{
		row(strange(), new("c1")), row(record("1-0", map[string]string{"payload": "p"}), new("c1")),
	}}})
	got := rscctl(t, scene{onlyOutput: true, columns: 90}, url, "messages orders g")
	require.Zero(t, got.code, got.err)
	require.Equal(t, text(`
		TIME                       SHARD   ID                     RECORD
		2026-01-02T03:04:05.000Z       3   2-0                    a\x1b[2J=x\ny\u202e bin=(base64…
		2026-01-02T03:04:05.000Z       3   1-0                    payload=p
		Go on with: --cursor 'c1'
		`), got.out)
	whole := rscctl(t, scene{}, url, "messages orders g").out
	require.Contains(t, whole, "bin=(base64)/w== long=zzz")
	require.Contains(t, whole, "zzz(cut)\n")
}

func TestRecordsForProgramsAreWholeAndTheSameForOneShardAndAll(t *testing.T) {
	t.Parallel()
	one := "direction=BACKWARD&limit=25"
	_, url := serve(t, answers{
		getMerged + merged: {[]protocol.GrafanaMessageRow{row(strange(), new("c1"))}},
		getShard + one:     {protocol.StreamMessagesPageResponse{Records: []protocol.StreamMessageRecord{strange()}, NextCursor: new("c1")}},
	})
	want := messagePage{"orders", "g", []protocol.StreamMessageRecord{strange()}, new("c1")}
	requireJSON(t, want, rscctl(t, scene{}, url, "messages orders g -o json").out)
	got := rscctl(t, scene{}, url, "messages orders g --shard 3 -o json").out
	requireJSON(t, want, got)
	require.NotContains(t, got, "\u202e")
	require.NotContains(t, rscctl(t, scene{}, url, "messages orders g --shard 3 -o yaml").out, "\u202e")
}

func TestTheFlagsOfMessagesAreWhatIsAsked(t *testing.T) {
	t.Parallel()
	f, url := serve(t, answers{})
	rscctl(t, scene{}, url, "messages orders g --shard 3 --direction Forward --limit 7 --cursor c/1")
	rscctl(t, scene{}, url, "messages orders g --shard 3 --id 5-1")
	require.Equal(t, []string{
		getShard + "cursor=c%2F1&direction=FORWARD&limit=7", getShard + "direction=BACKWARD&limit=25&recordId=5-1",
	}, f.asked)
	for _, line := range []string{
		"messages orders g --shard x", "messages orders g --shard=-1", "messages orders g --direction up", "messages orders g --limit 0",
		"messages orders g --limit 1001", "messages orders g --id 1-0 --all", "messages orders g --id 1-0 --cursor c", "messages",
	} {
		got := rscctl(t, scene{}, url, line)
		require.Equal(t, 2, got.code, line)
	}
	require.Len(t, f.asked, 2)
}

func TestARecordThatIsNotThereIsAFailure(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{getShard + "direction=BACKWARD&limit=25&recordId=5-1": {protocol.StreamMessagesPageResponse{}}})
	got := rscctl(t, scene{}, url, "messages orders g --shard 3 --id 5-1 -o json")
	require.Equal(t, 1, got.code)
	requireJSON(t, messagePage{"orders", "g", []protocol.StreamMessageRecord{}, nil}, got.out)
	require.Equal(t, "rscctl: stream orders has no record 5-1 there\n", got.err)
}

func TestAllPagesAreReadToTheEnd(t *testing.T) {
	t.Parallel()
	page := func(next *string, ids ...string) protocol.StreamMessagesPageResponse {
		var records []protocol.StreamMessageRecord
		for _, id := range ids {
			records = append(records, record(id, map[string]string{"payload": id}))
		}
		return protocol.StreamMessagesPageResponse{Records: records, NextCursor: next}
	}
	says := answers{
		getShard + "direction=FORWARD&limit=2":           {page(new("c1"), "1-0", "2-0")},
		getShard + "cursor=c1&direction=FORWARD&limit=2": {page(new("c2"), "3-0")},
		getShard + "cursor=c2&direction=FORWARD&limit=2": {page(nil)},
	}
	_, url := serve(t, says)
	const line = "messages orders g --shard 3 --direction forward --limit 2 --all"
	got := rscctl(t, scene{}, url, line+" -o json")
	require.Zero(t, got.code, got.err)
	require.Equal(t, 3, strings.Count(got.out, "\n"), "one record a line")
	got = rscctl(t, scene{}, url, line)
	require.Equal(t, 1, strings.Count(got.out, "TIME"), "the heads are there once")
	require.Equal(t, 4, strings.Count(got.out, "\n"))

	says[getShard+"cursor=c2&direction=FORWARD&limit=2"] = []any{refused{protocol.CodeUpstreamUnavailable, "no monitor"}}
	_, url = serve(t, says)
	got = rscctl(t, scene{}, url, line)
	require.Equal(t, 1, got.code)
	require.Contains(t, got.err, "there is more; go on with: --cursor 'c2'\n")
}
