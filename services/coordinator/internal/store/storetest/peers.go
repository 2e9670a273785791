package storetest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func peerClaims() []claim {
	return []claim{
		{"all that are announced are known, in order", peersKnown},
		{"an announcement ends by itself", peersEnd},
		{"it is renewed, and says what was said last", peersRenewed},
		{"who withdraws is gone at once, and may again", peersWithdraw},
		{"who announce themselves at once know each other in the end", peersRace},
		{"ids that no store takes are refused", peersInvalid},
	}
}

func announced(t trial, peer store.Peer, ttl time.Duration) []store.Peer {
	t.Helper()
	known, err := t.Store.Announce(t.Context(), peer, ttl)
	require.NoError(t, err)
	return known
}

func peersKnown(t trial) {
	b, a := store.Peer{ID: "b:1", Reads: 2, Writes: 1}, store.Peer{ID: "a é", Reads: 1, Writes: 1}
	require.Equal(t, []store.Peer{b}, announced(t, b, lifetime))
	require.Equal(t, []store.Peer{a, b}, announced(t, a, lifetime))
	require.Equal(t, []store.Peer{a, b}, announced(t, b, lifetime))
}

func peersEnd(t trial) {
	brief, lasting := store.Peer{ID: "brief", Reads: 1, Writes: 1}, store.Peer{ID: "lasting", Reads: 1, Writes: 1}
	announced(t, lasting, lifetime)
	announced(t, brief, time.Millisecond)
	t.Pass(t.T, 2*time.Millisecond)
	require.Equal(t, []store.Peer{lasting}, announced(t, lasting, lifetime))
}

func peersRenewed(t trial) {
	first, second := store.Peer{ID: "a", Reads: 2, Writes: 1}, store.Peer{ID: "a", Reads: 2, Writes: 2}
	announced(t, first, time.Millisecond)
	require.Equal(t, []store.Peer{second}, announced(t, second, lifetime))
	t.Pass(t.T, 2*time.Millisecond)
	other := store.Peer{ID: "b", Reads: 1, Writes: 1}
	require.Equal(t, []store.Peer{second, other}, announced(t, other, lifetime))
}

func peersWithdraw(t trial) {
	a, b := store.Peer{ID: "a", Reads: 1, Writes: 1}, store.Peer{ID: "b", Reads: 1, Writes: 1}
	announced(t, a, lifetime)
	announced(t, b, lifetime)
	for range 2 {
		require.NoError(t, t.Store.Withdraw(t.Context(), "a"))
	}
	require.Equal(t, []store.Peer{b}, announced(t, b, lifetime))
	require.Equal(t, []store.Peer{a, b}, announced(t, a, lifetime))
}

func peersRace(t trial) {
	const many = 16
	var wait sync.WaitGroup
	failed := make(chan error, many)
	for i := range many {
		wait.Go(func() {
			_, err := t.Store.Announce(t.Context(), store.Peer{ID: fmt.Sprintf("%02d", i), Reads: 1, Writes: 1}, lifetime)
			failed <- err
		})
	}
	wait.Wait()
	for range many {
		require.NoError(t, <-failed)
	}
	require.Len(t, announced(t, store.Peer{ID: "00", Reads: 1, Writes: 1}, lifetime), many)
}

func peersInvalid(t trial) {
	for _, id := range []string{"", "a\nb", "a\x00", "a\x7f", "\xff", strings.Repeat("x", store.MaxPeerID+1)} {
		_, err := t.Store.Announce(t.Context(), store.Peer{ID: id, Reads: 1, Writes: 1}, lifetime)
		require.ErrorIs(t, err, store.ErrInvalid, "%q", id)
		require.ErrorIs(t, t.Store.Withdraw(t.Context(), id), store.ErrInvalid, "%q", id)
	}
	require.Len(t, announced(t, store.Peer{ID: strings.Repeat("x", store.MaxPeerID), Reads: 1, Writes: 1}, lifetime), 1)
}
