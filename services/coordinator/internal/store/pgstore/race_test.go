package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/pgstore"
)

func raceClaims() claims {
	return claims{
		"a commit never rests on liveness that has moved (T3)":              restsOnLiveness,
		"of many coordinators each revision has one author and one event":   oneAuthor,
		"a record that is made and deleted all the time is there or is not": madeAndDeleted,
		"a lease is taken over only after the commit that it covers":        takenOver,
		"a lease has one holder at a time":                                  oneHolder,
	}
}

// restsOnLiveness has members heard all the time while a coordinator commits what it has
// loaded. A touch of a version that was answered came before the commit that replaced the
// version, so no commit may have seen a lower sequence of that member.
func restsOnLiveness(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	url := server.Database(t)
	const members, rounds = 8, 25
	kept := newStore(t, migrated(t, url), pgstore.Options{})
	version := created(t, kept)
	var mu sync.Mutex
	answered := map[string]int64{} // the last sequence answered, by member and version
	ctx, stop := context.WithCancel(t.Context())
	var touching sync.WaitGroup
	failed := make(chan error, members)
	for i := range members {
		member := fmt.Sprintf("m%d", i)
		touching.Go(func() {
			for sequence := int64(1); ctx.Err() == nil; sequence++ {
				snapshot, err := kept.Load(context.WithoutCancel(ctx), orders(), version)
				if err == nil {
					_, err = kept.Touch(context.WithoutCancel(ctx), heard(snapshot.Version, member, sequence))
				}
				switch {
				case err == nil:
					mu.Lock()
					answered[member+"@"+snapshot.Version.Token] = sequence
					mu.Unlock()
				case !errors.Is(err, store.ErrConflict):
					failed <- err
					return
				}
			}
		})
	}
	seen := map[string]map[string]store.Observed{}
	for try, revision := 0, 0; revision < rounds; try++ {
		snapshot := loaded(t, kept)
		change := next(snapshot.Version)
		change.Token = fmt.Sprintf("token-%d", revision)
		change.Unmoved = map[string]store.Observed{}
		for _, member := range []string{fmt.Sprintf("m%d", try%members), fmt.Sprintf("m%d", (try+1)%members)} {
			state := snapshot.Liveness[member]
			change.Unmoved[member] = store.Observed{Deadline: state.Deadline, Sequence: state.Sequence}
		}
		if _, err := kept.Commit(t.Context(), change); err != nil {
			require.ErrorIs(t, err, store.ErrConflict)
			continue
		}
		seen[snapshot.Version.Token] = change.Unmoved
		revision++
	}
	stop()
	touching.Wait()
	require.Empty(t, failed)
	for token, observed := range seen {
		for member, premise := range observed {
			require.LessOrEqual(t, answered[member+"@"+token], premise.Sequence,
				"%s was answered at version %s, and the commit that replaced it had not seen that", member, token)
		}
	}
}

func oneAuthor(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	url := server.Database(t)
	const coordinators, each = 6, 15
	pool := migrated(t, url)
	created(t, newStore(t, pool, pgstore.Options{}))
	results := together(coordinators, func(i int) error {
		kept, err := pgstore.New(open(t, url), pgstore.Options{})
		for done := 0; done < each && err == nil; {
			var snapshot store.Snapshot
			snapshot, err = kept.Load(t.Context(), orders(), store.Version{})
			if err != nil {
				return err
			}
			change := next(snapshot.Version)
			change.Token = fmt.Sprintf("%d-%d", i, done)
			change.Aggregate = append(slices.Clone(snapshot.Record.Aggregate), ' ')
			change.Event = []byte(change.Token)
			_, err = kept.Commit(t.Context(), change)
			if err == nil {
				done++
			} else if errors.Is(err, store.ErrConflict) {
				err = nil
			}
		}
		return err
	})
	require.NoError(t, errors.Join(results...))
	last := loaded(t, newStore(t, pool, pgstore.Options{}))
	require.Equal(t, int64(1+coordinators*each), last.Version.Revision)
	require.Len(t, last.Record.Aggregate, len(`{"n":1}`)+coordinators*each, "no commit was lost")
	events := history(t, pool, orders())
	require.Len(t, events, 1+coordinators*each)
	told := map[string]bool{}
	for _, event := range events {
		require.False(t, told[string(event)], "%s twice", event)
		told[string(event)] = true
	}
}

func madeAndDeleted(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	url := server.Database(t)
	const workers, each = 6, 20
	pool := migrated(t, url)
	kept := newStore(t, pool, pgstore.Options{HistoryRetention: time.Hour})
	var mu sync.Mutex
	made, deleted := 0, 0
	results := together(workers, func(i int) error {
		for n := range each {
			token := fmt.Sprintf("%d-%d", i, n)
			_, err := kept.Create(t.Context(), store.Create{Key: orders(), Token: token, Aggregate: []byte("x"), Event: []byte("made")})
			if err != nil && !errors.Is(err, store.ErrExists) {
				return err
			}
			removed := err == nil
			if removed {
				_, failed := kept.Touch(t.Context(), heard(store.Version{Revision: 1, Token: token}, "m", 1))
				_, err = kept.Delete(t.Context(), orders(), store.Version{Revision: 1, Token: token}, []byte("deleted"))
				if errors.Join(failed, err) != nil {
					return errors.Join(failed, err)
				}
				mu.Lock()
				made, deleted = made+1, deleted+1
				mu.Unlock()
			}
		}
		return nil
	})
	require.NoError(t, errors.Join(results...))
	require.Positive(t, made)
	require.Len(t, history(t, pool, orders()), made+deleted)
	keys, err := kept.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, keys)
	var left int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM rsc_liveness").Scan(&left))
	require.Zero(t, left)
}

func takenOver(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	pool := migrated(t, server.Database(t))
	kept := newStore(t, pool, pgstore.Options{})
	version := created(t, kept)
	lease, err := kept.Lease(t.Context(), orders(), time.Hour)
	require.NoError(t, err)
	under, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = under.Rollback(t.Context()) }()
	var word string
	require.NoError(t, under.QueryRow(t.Context(),
		`SELECT word FROM rsc_commit($1, $2, 1, 'first', 'second', 1, '', '', $3, '[]', '{}', '[]', '[]', '', 1000)`,
		orders().Stream, orders().Group, []byte(lease.Token())).Scan(&word))
	require.Equal(t, "ok", word, "the commit is written and not yet final")

	released := make(chan error, 1)
	go func() { released <- lease.Release(context.WithoutCancel(t.Context())) }()
	require.Eventually(t, func() bool { return waiting(t, pool) == 1 }, time.Minute, time.Millisecond, "the release waits for the commit")
	require.NoError(t, under.Commit(t.Context()))
	require.NoError(t, <-released)
	_, err = kept.Commit(t.Context(), next(version))
	require.ErrorIs(t, err, store.ErrConflict)
}

// waiting counts the sessions of the database that wait for a lock.
func waiting(t *testing.T, pool *pgxpool.Pool) int {
	t.Helper()
	var count int
	require.NoError(t, pool.QueryRow(t.Context(),
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&count))
	return count
}

func oneHolder(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	url := server.Database(t)
	const workers, each = 6, 20
	kept := newStore(t, migrated(t, url), pgstore.Options{LeaseWait: time.Hour})
	var mu sync.Mutex
	holders := 0
	results := together(workers, func(int) error {
		for range each {
			lease, err := kept.Lease(t.Context(), orders(), time.Hour)
			if err != nil {
				return err
			}
			mu.Lock()
			holders++
			alone := holders == 1
			mu.Unlock()
			if _, err := kept.Ping(t.Context()); err != nil {
				return err
			}
			mu.Lock()
			holders--
			mu.Unlock()
			if !alone {
				return errors.New("two hold the lease")
			}
			if err := lease.Release(t.Context()); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, errors.Join(results...))
}
