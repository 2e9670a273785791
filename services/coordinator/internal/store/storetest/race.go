package storetest

import (
	"fmt"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func raceClaims() []claim {
	return []claim{
		{"of commits on one version exactly one wins", raceCommits},
		{"of creates of one record exactly one wins", raceCreates},
		{"touches of one version all succeed", raceTouches},
		{"touches and commits never mix versions", raceMixed},
	}
}

// together runs act n times at once and returns what each returned.
func together(n int, act func(i int) error) []error {
	var group sync.WaitGroup
	results := make([]error, n)
	for i := range n {
		group.Go(func() { results[i] = act(i) })
	}
	group.Wait()
	return results
}

// oneWinner requires that one result is nil and all others are the sentinel; it
// returns which one.
func oneWinner(t trial, results []error, sentinel error) int {
	t.Helper()
	winner := -1
	for i, err := range results {
		if err == nil {
			require.Equal(t, -1, winner, "two have won")
			winner = i
			continue
		}
		require.ErrorIs(t, err, sentinel)
	}
	require.GreaterOrEqual(t, winner, 0)
	return winner
}

func raceCommits(t trial) {
	const rounds, racers = 5, 8
	version := created(t)
	for range rounds {
		results := together(racers, func(i int) error {
			change := commit(version)
			change.Token = fmt.Sprintf("%s-%d", version.Token, i)
			change.Aggregate = []byte(change.Token)
			change.Event = []byte(change.Token)
			change.Beats = []store.Beat{beat(fmt.Sprintf("m%d", i), version.Revision)}
			_, err := t.Store.Commit(t.Context(), change)
			return err
		})
		winner := oneWinner(t, results, store.ErrConflict)
		snapshot := loaded(t)
		require.Equal(t, version.Revision+1, snapshot.Version.Revision)
		require.Equal(t, fmt.Sprintf("%s-%d", version.Token, winner), snapshot.Version.Token)
		require.Equal(t, snapshot.Version.Token, string(snapshot.Record.Aggregate))
		for i := range racers {
			state := snapshot.Liveness[fmt.Sprintf("m%d", i)]
			require.Equal(t, i == winner, state.Sequence == version.Revision, "only the winner's beat is written")
		}
		version = snapshot.Version
	}
	require.Len(t, t.History(t.T, orders()), 1+rounds)
}

func raceCreates(t trial) {
	results := together(8, func(i int) error {
		_, err := t.Store.Create(t.Context(), store.Create{
			Key: orders(), Token: fmt.Sprint(i), Aggregate: []byte("x"), Event: []byte("created"),
		})
		return err
	})
	winner := oneWinner(t, results, store.ErrExists)
	require.Equal(t, fmt.Sprint(winner), loaded(t).Version.Token)
	require.Len(t, t.History(t.T, orders()), 1)
	require.Len(t, listed(t), 1)
}

func raceTouches(t trial) {
	const members, beats = 64, 5
	version := created(t)
	for _, err := range together(members, func(i int) error {
		for sequence := range int64(beats) {
			done, err := t.Store.Touch(t.Context(), store.Touch{
				Key: orders(), Version: version, Identity: store.IdentityUnknown,
				Beats: []store.Beat{beat(fmt.Sprintf("m%d", i), sequence+1)},
			})
			if err != nil {
				return err
			}
			if !done.Applied[0] || done.Deadlines[0] != done.Clock.Add(lifetime) {
				return fmt.Errorf("beat %d of member %d: %+v", sequence, i, done)
			}
		}
		return nil
	}) {
		require.NoError(t, err)
	}
	snapshot := loaded(t)
	require.Equal(t, version, snapshot.Version)
	require.Len(t, snapshot.Liveness, members)
	for _, state := range snapshot.Liveness {
		require.Equal(t, int64(beats), state.Sequence)
	}
}

func raceMixed(t trial) {
	version := created(t)
	results := together(16, func(i int) error {
		if i == 0 {
			_, err := t.Store.Commit(t.Context(), commit(version))
			return err
		}
		for sequence := range int64(20) {
			_, err := t.Store.Touch(t.Context(), store.Touch{
				Key: orders(), Version: version, Identity: store.IdentityUnknown,
				Beats: []store.Beat{beat(fmt.Sprintf("m%d", i), sequence+1)},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, results[0])
	for _, err := range results[1:] {
		if err != nil {
			require.ErrorIs(t, err, store.ErrConflict)
		}
	}
	conflicting(t, version)
}
