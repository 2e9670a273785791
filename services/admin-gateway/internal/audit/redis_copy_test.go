package audit

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

func TestTheHistoryOfAQuietGroupOutlastsBusyOnes(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	sink := NewRedis(rdb, RedisConfig{KeyPrefix: "p", GatewayID: "a", Cap: 100}, nil)
	quiet := []string{"1", "2", "3", "4", "5"}
	write(t, sink, quiet...)
	for i := range 400 {
		busy := note("busy-" + strconv.Itoa(i))
		busy.ConsumerGroup = "busy"
		require.NoError(t, sink.Append(t.Context(), busy))
	}
	write(t, sink, "6", "7")
	a := New(Config{}, sink, sink, clock.Now, nil)
	for _, limit := range []string{"1", "3", "5", "1000"} {
		query := url.Values{"streamPrefix": {"orders"}, "consumerGroup": {"billing"}, "limit": {limit}}
		require.Equal(t, []string{"7", "6", "5", "4", "3", "2", "1"}, pages(t, a, query), limit)
		require.Empty(t, pages(t, a, url.Values{"streamPrefix": {"orders"}, "consumerGroup": {"billing"}, "limit": {limit}}, "payments"))
	}
	require.Equal(t, []string{"7", "6"}, pages(t, a, url.Values{"consumerGroup": {"billing"}}), "without a stream the global one is all there is")
	rdb.Del(t.Context(), "p:gateway:audit")
	require.Len(t, pages(t, a, url.Values{"streamPrefix": {"orders"}, "consumerGroup": {"billing"}}), 7)
}

func TestTheHistoryOfAStreamOutlastsAFloodOfRefusals(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	sink := NewRedis(rdb, RedisConfig{KeyPrefix: "p", GatewayID: "a", Cap: 100}, nil)
	scaled := note("scaled")
	scaled.ConsumerGroup = ""
	require.NoError(t, sink.Append(t.Context(), scaled))
	write(t, sink, "deleted")
	for i := range 400 {
		refused := note("refused-" + strconv.Itoa(i))
		refused.Intended, refused.Principal, refused.ConsumerGroup = false, "", strconv.Itoa(i)
		require.NoError(t, sink.Append(t.Context(), refused))
	}
	a := New(Config{}, sink, sink, clock.Now, nil)
	found := pages(t, a, url.Values{"streamPrefix": {"orders"}, "principal": {"ann"}, "limit": {"1"}})
	require.Equal(t, []string{"scaled"}, found, "what was about the stream as a whole")
	found = pages(t, a, url.Values{"streamPrefix": {"orders"}, "consumerGroup": {"billing"}})
	require.Equal(t, []string{"deleted"}, found)
	keys, err := rdb.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.Len(t, keys, 5, "who is refused makes no keys: %v", keys)
}

func TestACopyThatFailsLosesNothingOfTheChain(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	require.NoError(t, rdb.Set(t.Context(), globalStream+":{orders/billing}", "no stream", 0).Err())
	sink := sinkOf(rdb, "a")
	write(t, sink, "1", "2")
	require.Empty(t, verify(t, sink))
}

func TestACursorSurvivesItsText(t *testing.T) {
	t.Parallel()
	for _, one := range []cursor{{}, {id: "1-0"}, {copies: true, behind: 7}, {copies: true, behind: 7, id: "18446744073709551615-1"}} {
		back, err := parseCursor(one.String())
		require.NoError(t, err)
		require.Equal(t, one, back)
	}
}

// deaf loses the answers of scripts while it is on; the scripts are carried out.
type deaf struct{ on atomic.Bool }

var errLostAnswer = errors.New("connection reset")

func (d *deaf) DialHook(next redis.DialHook) redis.DialHook { return next }

func (d *deaf) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (d *deaf) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if d.on.Load() && err == nil && cmd.Name() == "evalsha" {
			cmd.SetErr(errLostAnswer)
			return errLostAnswer
		}
		return err
	}
}

func TestARecordWhoseAnswerWasLostIsWrittenOnce(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb, lossy := server.Client(t), &deaf{}
	rdb.AddHook(lossy)
	sink, other := sinkOf(rdb, "a"), sinkOf(server.Client(t), "b")
	write(t, sink, "1")
	lossy.on.Store(true)
	for range 3 {
		require.ErrorIs(t, sink.Append(t.Context(), note("2")), errLostAnswer)
	}
	write(t, other, "3") // another gateway goes on meanwhile
	require.ErrorIs(t, sink.Append(t.Context(), note("2")), errLostAnswer)
	lossy.on.Store(false)
	write(t, sink, "2", "4")
	records, head := all(t, sink, 10)
	require.Empty(t, audit.Verify(records, head))
	var ids []string
	for _, record := range records {
		ids = append(ids, record.RequestID)
	}
	require.Equal(t, []string{"1", "2", "3", "4"}, ids)
}

func TestAHeadThatWasLostIsFoundAgain(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	sink := sinkOf(rdb, "a")
	write(t, sink, "1", "2")
	require.NoError(t, rdb.Del(t.Context(), sink.headKey).Err())
	write(t, sink, "3")
	require.NoError(t, rdb.Del(t.Context(), sink.headKey).Err())
	write(t, sinkOf(rdb, "b"), "4")
	records, head := all(t, sink, 10)
	require.Len(t, records, 4)
	require.Empty(t, audit.Verify(records, head))
}

func TestARedisThatLostEverythingBeginsAgain(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	sink := sinkOf(rdb, "a")
	write(t, sink, "1", "2")
	require.NoError(t, rdb.FlushAll(t.Context()).Err())
	write(t, sink, "3")
	records, head := all(t, sink, 10)
	require.Len(t, records, 1)
	require.Empty(t, audit.Verify(records, head))
}

func TestTheAuditWorksInARedisCluster(t *testing.T) {
	t.Parallel()
	rdb := redisproc.StartCluster(t, 3).Client(t)
	sink := sinkOf(rdb, "a")
	for _, id := range []string{"1", "2", "3"} {
		record := note(id)
		record.ConsumerGroup += id // each in another slot
		require.NoError(t, sink.Append(t.Context(), record))
		require.Equal(t, int64(1), rdb.XLen(t.Context(), globalStream+":{orders/billing"+id+"}").Val())
	}
	require.Empty(t, verify(t, sink))
	a := New(Config{}, sink, sink, clock.Now, nil)
	require.Equal(t, []string{"2"}, pages(t, a, url.Values{"streamPrefix": {"orders"}, "consumerGroup": {"billing2"}}))
}

func TestRecordsWaitForARedisThatComesBack(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t, redisproc.WithAOF("always"))
	sink := sinkOf(server.Client(t), "a")
	a := New(Config{GatewayID: "a", OnFailure: Buffer, Buffer: 100, Timeout: time.Minute}, sink, sink, clock.Now, nil)
	for i := range 10 {
		if i == 3 {
			server.Kill()
		}
		id := strconv.Itoa(i)
		require.NoError(t, a.box.intend(t.Context(), intent(id)))
		a.box.conclude(t.Context(), done(id))
	}
	require.Equal(t, 14, a.Waiting())
	server.Restart()
	require.NoError(t, a.Close(t.Context()))
	records, head := all(t, sink, 7)
	require.Empty(t, audit.Verify(records, head))
	require.Len(t, records, 20)
	for i, record := range records {
		require.Equal(t, strconv.Itoa(i/2), record.RequestID)
		require.Equal(t, i%2 == 0, record.Kind == protocol.AuditIntent)
	}
}
