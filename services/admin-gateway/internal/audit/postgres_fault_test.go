package audit

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
)

// patient bounds what has to happen at some time.
const patient, now = 2 * time.Minute, 10 * time.Millisecond

// insist appends a record until that is answered, as the outbox does.
func insist(ctx context.Context, sink Sink, record protocol.AuditRecord) error {
	for {
		try, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := sink.Append(try, record)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		_ = clock.Sleep(ctx, now)
	}
}

func TestAPostgresThatIsKilledLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	const each, gateways = 300, 2
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	var group sync.WaitGroup
	some := make(chan struct{}, gateways*each)
	for i := range gateways {
		sink := inPostgres(t, where)
		group.Go(func() {
			for n := range each {
				if insist(ctx, sink, note(fmt.Sprintf("%d-%d", i, n))) != nil {
					return
				}
				some <- struct{}{}
			}
		})
	}
	for range 3 {
		for range 100 {
			select {
			case <-some:
			case <-ctx.Done():
				require.NoError(t, ctx.Err(), "appending goes on")
			}
		}
		server.Kill()
		server.Restart()
	}
	group.Wait()
	records, head := all(t, inPostgres(t, where), 1000)
	require.Empty(t, audit.Verify(records, head))
	require.Len(t, records, gateways*each)
	ids := make(map[string]bool)
	for _, id := range idsOf(records) {
		ids[id] = true
	}
	require.Len(t, ids, gateways*each, "each record once")
}

func TestARecordThatWasGivenUpIsWrittenOnce(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	sink, other, hand := inPostgres(t, where), inPostgres(t, where), connected(t, where)
	write(t, sink, "1")
	execute(t, hand, "BEGIN", "SELECT * FROM rsc_audit_head FOR UPDATE")
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		require.Error(t, sink.Append(ctx, note("2")), "the head is held by another one")
		cancel()
	}
	execute(t, hand, "COMMIT")
	write(t, sink, "2")
	write(t, other, "3")
	write(t, sink, "4")
	records, head := all(t, sink, 10)
	require.Equal(t, []string{"1", "2", "3", "4"}, idsOf(records))
	require.Empty(t, audit.Verify(records, head))
}

func TestAPostgresThatHangsIsAsGoodAsNone(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	sink := inPostgres(t, server.Database(t))
	write(t, sink, "1")
	server.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, sink.Append(ctx, note("2")), context.DeadlineExceeded)
	_, err := sink.Ready(ctx)
	require.Error(t, err)
	server.Resume()
	write(t, sink, "2", "3")
	records, head := all(t, sink, 10)
	require.Equal(t, []string{"1", "2", "3"}, idsOf(records))
	require.Empty(t, audit.Verify(records, head))
}

func TestAGatewayStartsWithoutItsPostgresAndGoesOnWhenItIsThere(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	server.Stop()
	var log journal
	sink, err := OpenPostgres(t.Context(), postgres.Settings{URL: config.Secret(where)}, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	t.Cleanup(sink.Close)
	require.Error(t, sink.Append(t.Context(), note("1")))
	_, err = sink.Page(t.Context(), Query{Limit: 1})
	require.Error(t, err)
	_, err = sink.Ready(t.Context())
	require.Error(t, err)
	server.Restart()
	require.Eventually(t, func() bool {
		_, err := sink.Ready(t.Context())
		return err == nil
	}, patient, now)
	write(t, sink, "1")
	require.Empty(t, verify(t, sink))
	sink.Close()
	require.Equal(t, 1, log.count("is not ready"))
	require.Equal(t, 1, log.count("is ready"))
}

func TestAGatewayThatEndsDoesNotWaitForItsPostgres(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	server.Kill()
	sink, err := OpenPostgres(t.Context(), postgres.Settings{URL: config.Secret(where)}, nil)
	require.NoError(t, err)
	sink.Close()
	require.Error(t, sink.Append(t.Context(), note("1")))
}

// gateway, Audit: mutations are refused while the sink takes no writes, and one line of the
// log tells when that begins and when it ends.
func TestAPostgresThatTakesNoWritesRefusesUntilItDoes(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	where := server.Database(t)
	sink, hand := inPostgres(t, where), connected(t, server.Admin(where))
	var log journal
	a := New(Config{GatewayID: "a", OnFailure: Refuse, Buffer: 100, Timeout: patient}, sink, sink, clock.Now, slog.New(slog.NewTextHandler(&log, nil)))
	require.Equal(t, http.StatusAccepted, pass(t, a, scaling(scaleBody), nil, accept).Code)

	database := hand.Config().Database
	execute(t, hand, "ALTER DATABASE "+database+" SET default_transaction_read_only = on",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rsc-gateway'")
	require.Eventually(t, func() bool {
		state, err := sink.Ready(t.Context())
		return err != nil && state == postgres.StateReadOnly
	}, patient, now)
	for range 5 {
		refused := pass(t, a, scaling(scaleBody), nil, func(http.ResponseWriter, *http.Request) { t.Error("nothing may be sent") })
		require.Equal(t, http.StatusServiceUnavailable, refused.Code)
		require.Contains(t, refused.Body.String(), string(protocol.CodeAuditUnavailable))
		require.NotContains(t, refused.Body.String(), "127.0.0.1")
	}
	require.Equal(t, 1, log.count("audit sink failed"))
	require.Equal(t, 1, log.count("READONLY"))

	execute(t, hand, "SET default_transaction_read_only = off", "ALTER DATABASE "+database+" SET default_transaction_read_only = off")
	require.Eventually(t, func() bool {
		return pass(t, a, scaling(scaleBody), nil, accept).Code == http.StatusAccepted
	}, patient, now, "connections to a server that took no writes are given up")
	require.NoError(t, a.Close(t.Context()))
	require.Equal(t, 1, log.count("audit sink is back"))
	require.Empty(t, verify(t, sink))
}

func TestRecordsWaitForAPostgresThatComesBack(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	sink := inPostgres(t, server.Database(t))
	a := New(Config{GatewayID: "a", OnFailure: Buffer, Buffer: 100, Timeout: patient}, sink, sink, clock.Now, nil)
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

// What was written after a backup is gone with the restore, and the chain goes on from there.
func TestAPostgresThatWentBackInTimeGoesOnFromThere(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	sink := inPostgres(t, server.Database(t))
	write(t, sink, "1", "2")
	server.Stop()
	backup := server.Backup(t)
	server.Restart()
	write(t, sink, "3", "4")
	server.Kill()
	server.Restore(t, backup)
	server.Restart()
	write(t, sink, "5")
	records, head := all(t, sink, 10)
	require.Equal(t, []string{"1", "2", "5"}, idsOf(records))
	require.Empty(t, audit.Verify(records, head))
}

// C9: neither the log nor an error nor an answer holds a password.
func TestNothingTellsThePasswordOfPostgres(t *testing.T) {
	t.Parallel()
	const canary = "canary-password"
	server := postgresproc.Start(t)
	where := strings.Replace(server.Database(t), "//rsc@", "//rsc:"+canary+"@", 1)
	sink := inPostgres(t, where)
	var log journal
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	a := New(Config{GatewayID: "a", OnFailure: Refuse, Buffer: 10, Timeout: patient}, sink, sink, clock.Now, logger)
	server.Kill()
	refused := pass(t, a, scaling(scaleBody), nil, accept)
	require.Equal(t, http.StatusServiceUnavailable, refused.Code)
	status, body := ask(t, a, "")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "STORE_UNAVAILABLE")
	require.NotContains(t, body, "127.0.0.1")
	away, err := OpenPostgres(t.Context(), postgres.Settings{URL: config.Secret(where)}, logger)
	require.NoError(t, err)
	away.Close()
	err = away.Append(t.Context(), note("1"))
	require.Error(t, err)
	for _, text := range []string{refused.Body.String(), body, err.Error(), fmt.Sprintf("%+v", err)} {
		require.NotContains(t, text, canary)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, a.Close(ended), ErrLost)
	require.Equal(t, 1, log.count("audit sink failed"))
	require.Zero(t, log.count(canary))
}

func TestReadersLeaveConnectionsForWhatIsRecorded(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	sink, err := OpenPostgres(t.Context(), postgres.Settings{URL: config.Secret(server.Database(t)), PoolSize: 4}, nil)
	require.NoError(t, err)
	t.Cleanup(sink.Close)
	for range cap(sink.pages) {
		held, err := sink.pool.Acquire(t.Context())
		require.NoError(t, err)
		sink.pages <- struct{}{}
		t.Cleanup(func() { <-sink.pages; held.Release() })
	}
	write(t, sink, "1")
	_, err = sink.Ready(t.Context())
	require.NoError(t, err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = sink.Page(gone, Query{Limit: 1})
	require.ErrorIs(t, err, context.Canceled)
}
