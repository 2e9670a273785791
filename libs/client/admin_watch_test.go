package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// spoken is one answer of a script; without a status nobody answers.
type spoken struct {
	status     int
	body       string
	retryAfter string
}

// script answers requests one by one, in the bubble of a test; the last answer stays.
type script struct {
	answers []spoken
	asked   []time.Duration // when, since the first one
	began   time.Time
}

func (s *script) RoundTrip(*http.Request) (*http.Response, error) {
	if s.began.IsZero() {
		s.began = time.Now()
	}
	s.asked = append(s.asked, time.Since(s.began))
	answer := s.answers[min(len(s.asked), len(s.answers))-1]
	if answer.status == 0 {
		return nil, errors.New("connection refused")
	}
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Retry-After", answer.retryAfter)
	recorder.WriteHeader(answer.status)
	_, _ = io.WriteString(recorder, answer.body)
	return recorder.Result(), nil
}

func in(state protocol.MigrationState, progress string) spoken {
	return spoken{status: http.StatusOK, body: `{"reshardingId":"R1","fromShardCount":4,"toShardCount":8,"state":"` +
		string(state) + `","createdAt":"2026-01-02T03:04:05.006Z","progress":` + progress + `}`}
}

// watched follows R1 by the script and returns what was reported, in the form STATE done.
func watched(
	t *testing.T, s *script, opts client.WatchOptions,
) (reported string, end protocol.Migration, err error) {
	t.Helper()
	c, err := client.New(client.Options{CoordinatorURL: "http://c", HTTPClient: &http.Client{Transport: s}})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	var lines []string
	end, err = c.Admin().WatchMigrationWith(t.Context(), "orders", "g", "R1", opts, func(m protocol.Migration) {
		line := string(m.State)
		if m.Progress != nil {
			line += " " + string(rune('0'+m.Progress.Done))
		}
		lines = append(lines, line)
	})
	return strings.Join(lines, ", "), end, err
}

func TestAWatchReportsEachChangeAndReturnsTheEnd(t *testing.T) {
	t.Parallel()
	for _, last := range []protocol.MigrationState{protocol.MigrationDeprecated, protocol.MigrationRolledBack} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{answers: []spoken{
				in(protocol.MigrationPreparing, "null"), in(protocol.MigrationPreparing, "null"),
				in(protocol.MigrationActive, `{"done":1}`), in(protocol.MigrationActive, `{"done":1}`),
				in(protocol.MigrationActive, `{"done":2}`), in(last, "null"),
			}}
			reported, end, err := watched(t, s, client.WatchOptions{})
			require.NoError(t, err)
			require.Equal(t, "PREPARING, ACTIVE 1, ACTIVE 2, "+string(last), reported)
			require.Equal(t, last, end.State)
			require.Len(t, s.asked, 6)
			require.Equal(t, 5*500*time.Millisecond, s.asked[5], "every 500 ms")
		})
	}
}

func TestAWatchOfWhatIsOverAsksOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []spoken{in(protocol.MigrationDeprecated, "null")}}
		reported, _, err := watched(t, s, client.WatchOptions{})
		require.NoError(t, err)
		require.Equal(t, "DEPRECATED", reported)
		require.Len(t, s.asked, 1)
	})
}

func TestAWatchOutlastsErrorsThatPassWithGrowingPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []spoken{
			{},
			in(protocol.MigrationActive, "null"),
			{},
			{status: http.StatusBadGateway, body: "<html>"},
			{status: http.StatusServiceUnavailable, body: `{"errorCode":"STORE_UNAVAILABLE"}`, retryAfter: "7"},
			in(protocol.MigrationDeprecated, "null"),
		}}
		var troubles []error
		reported, _, err := watched(t, s, client.WatchOptions{
			Interval: time.Second, OnTrouble: func(err error) { troubles = append(troubles, err) },
		})
		require.NoError(t, err)
		require.Equal(t, "ACTIVE, DEPRECATED", reported)
		require.Len(t, troubles, 4)
		require.ErrorIs(t, troubles[0], client.ErrUnavailable)
		require.Equal(t, []time.Duration{
			0, 1 * time.Second, 2 * time.Second, // an answer makes the pause short again
			3 * time.Second, 5 * time.Second, 12 * time.Second, // the last one was asked for
		}, s.asked)
	})
}

func TestAWatchGivesUpWhenItsPatienceRunsOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []spoken{in(protocol.MigrationActive, "null"), {}}}
		_, last, err := watched(t, s, client.WatchOptions{})
		require.ErrorIs(t, err, client.ErrUnavailable)
		require.ErrorContains(t, err, "no answer for 1m0s")
		require.Equal(t, protocol.MigrationActive, last.State, "what was last seen")
		require.Equal(t, time.Minute, s.asked[len(s.asked)-1])
	})
}

func TestAnAnswerRenewsTheWatchsPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []spoken{
			{}, {}, in(protocol.MigrationActive, "null"), {}, {}, in(protocol.MigrationDeprecated, "null"),
		}}
		_, last, err := watched(t, s, client.WatchOptions{Interval: 20 * time.Second})
		require.NoError(t, err)
		require.Equal(t, protocol.MigrationDeprecated, last.State)
		require.Equal(t, 100*time.Second, s.asked[len(s.asked)-1])
	})
}

func TestAWatchWithoutEndOfPatienceEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []spoken{{}}}
		c, err := client.New(client.Options{CoordinatorURL: "http://c", HTTPClient: &http.Client{Transport: s}})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err = c.Admin().WatchMigrationWith(ctx, "orders", "g", "R1", client.WatchOptions{Patience: -1}, nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Greater(t, len(s.asked), 300)
		require.NoError(t, c.Close())
	})
}

func TestARequestThatHangsDoesNotHangTheWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hangs := roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		c, err := client.New(client.Options{CoordinatorURL: "http://c", HTTPClient: &http.Client{Transport: hangs}})
		require.NoError(t, err)
		began := time.Now()
		_, err = c.Admin().WatchMigration(t.Context(), "orders", "g", "R1", nil)
		require.ErrorIs(t, err, client.ErrUnavailable)
		require.InDelta(t, 75*time.Second, time.Since(began), float64(15*time.Second))
		require.NoError(t, c.Close())
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAWatchEndsAtOnceWithARefusalThatStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []spoken{
			{status: http.StatusNotFound, body: `{"errorCode":"MIGRATION_NOT_FOUND","message":"no such resharding"}`},
		}}
		_, _, err := watched(t, s, client.WatchOptions{})
		var refused *protocol.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, protocol.CodeMigrationNotFound, refused.Code)
		require.Len(t, s.asked, 1)
	})
}

func TestACancelledWatchReturnsWhatItSawLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []spoken{in(protocol.MigrationDraining, "null")}}
		c, err := client.New(client.Options{CoordinatorURL: "http://c", HTTPClient: &http.Client{Transport: s}})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		last, err := c.Admin().WatchMigration(ctx, "orders", "g", "R1", func(protocol.Migration) { cancel() })
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, protocol.MigrationDraining, last.State)
		require.NoError(t, c.Close())
	})
}
