package storetest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func historyClaims() []claim {
	return []claim{
		{"events are read oldest first with the store's clock", historyInOrder},
		{"cursor after cursor gives every event once", historyPages},
		{"what is appended while it is read comes at the end", historyGrows},
		{"the cursor at the end gives an empty list", historyEnd},
		{"neither record nor history is not found", historyAbsent},
		{"a record without events has an empty history", historyWithoutEvents},
		{"a deletion is the last event of a history that stays", historyOutlives},
		{"an unreadable record has a readable history (M6)", historySpoiled},
		{"a deletion of an unreadable record is recorded (M6)", historyPurged},
		{"a refused deletion records nothing", historyRefusedDelete},
		{"only the newest events are kept", historyCapped},
		{"bad limits and cursors are invalid", historyInvalid},
	}
}

// past reads a history by pages of limit events until one is not full.
func past(t trial, after string, limit int) []store.Event {
	t.Helper()
	var events []store.Event
	for {
		page, err := t.Store.History(t.Context(), orders(), after, limit)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page), limit)
		events = append(events, page...)
		if len(page) < limit {
			return events
		}
		after = page[len(page)-1].ID
	}
}

// recorded makes commits that record "event 0" … and returns the last version.
func recorded(t trial, version store.Version, count int) store.Version {
	t.Helper()
	for i := range count {
		change := commit(version)
		change.Token, change.Event = fmt.Sprintf("%d-%d", version.Revision, i), fmt.Appendf(nil, "event %d", i)
		version = committed(t, change).Version
	}
	return version
}

func texts(events []store.Event) []string {
	list := make([]string, len(events))
	for i, e := range events {
		list[i] = string(e.Data)
	}
	return list
}

func historyInOrder(t trial) {
	version := created(t)
	t.Pass(t.T, 5*time.Millisecond)
	change := commit(version)
	change.Event = []byte("\x00binary\xff")
	done := committed(t, change)
	events := past(t, "", 10)
	require.Equal(t, []string{"created", "\x00binary\xff"}, texts(events))
	require.Equal(t, done.Clock, events[1].At)
	require.Less(t, events[0].At, events[1].At)
	require.NotEqual(t, events[0].ID, events[1].ID)
}

func historyPages(t trial) {
	recorded(t, created(t), 10)
	whole := past(t, "", store.MaxEvents)
	require.Len(t, whole, 11)
	for limit := 1; limit <= 12; limit++ {
		require.Equal(t, whole, past(t, "", limit), limit)
	}
	for i, e := range whole {
		require.Equal(t, whole[i+1:], append([]store.Event{}, past(t, e.ID, 3)...))
	}
}

func historyGrows(t trial) {
	version := recorded(t, created(t), 3)
	page, err := t.Store.History(t.Context(), orders(), "", 2)
	require.NoError(t, err)
	recorded(t, version, 1)
	require.Equal(t, []string{"event 1", "event 2", "event 0"}, texts(past(t, page[1].ID, 2)))
}

func historyEnd(t trial) {
	created(t)
	events := past(t, "", 10)
	rest, err := t.Store.History(t.Context(), orders(), events[0].ID, 1)
	require.NoError(t, err)
	require.Empty(t, rest)
}

func historyAbsent(t trial) {
	for _, after := range []string{"", "1-0"} {
		_, err := t.Store.History(t.Context(), orders(), after, 1)
		require.ErrorIs(t, err, store.ErrNotFound)
	}
	createdAs(t, store.Key{Stream: "orders"})
	_, err := t.Store.History(t.Context(), orders(), "", 1)
	require.ErrorIs(t, err, store.ErrNotFound, "the stream's own record has another history")
}

func historyWithoutEvents(t trial) {
	_, err := t.Store.Create(t.Context(), store.Create{Key: orders(), Token: "first", Aggregate: []byte("{}")})
	require.NoError(t, err)
	require.Empty(t, past(t, "", 10))
}

func historyOutlives(t trial) {
	version := created(t)
	_, err := t.Store.Delete(t.Context(), orders(), version, []byte("deleted"))
	require.NoError(t, err)
	require.Equal(t, []string{"created", "deleted"}, texts(past(t, "", 10)))
	_, err = t.Store.Delete(t.Context(), orders(), version, []byte("again"))
	require.ErrorIs(t, err, store.ErrNotFound)
	created(t)
	require.Equal(t, []string{"created", "deleted", "created"}, texts(past(t, "", 10)))
}

func historySpoiled(t trial) {
	created(t)
	t.Spoil(t.T, orders(), "revision")
	require.Equal(t, []string{"created"}, texts(past(t, "", 10)))
}

func historyPurged(t trial) {
	created(t)
	t.Spoil(t.T, orders(), "revision")
	_, err := t.Store.Delete(t.Context(), orders(), store.Version{}, []byte("discarded"))
	require.NoError(t, err)
	require.Equal(t, []string{"created", "discarded"}, texts(past(t, "", 10)))
}

func historyRefusedDelete(t trial) {
	created(t)
	unchanged(t, func() {
		for _, version := range []store.Version{{}, {Revision: 9, Token: "first"}} {
			_, err := t.Store.Delete(t.Context(), orders(), version, []byte("no"))
			require.ErrorIs(t, err, store.ErrConflict)
		}
	})
}

// historyCapped writes far more than any store keeps, so that also one that cuts roughly
// has cut.
func historyCapped(t trial) {
	recorded(t, created(t), 1300)
	events := past(t, "", 100)
	require.GreaterOrEqual(t, len(events), 1000)
	require.Less(t, len(events), 1301)
	require.Equal(t, "event 1299", string(events[len(events)-1].Data))
	require.Equal(t, fmt.Sprintf("event %d", 1300-len(events)), string(events[0].Data), "without a gap")
	fromBefore, err := t.Store.History(t.Context(), orders(), "1-0", 1)
	require.NoError(t, err)
	require.Equal(t, events[:1], fromBefore, "a cursor that was cut off goes on with the oldest event kept")
}

func historyInvalid(t trial) {
	created(t)
	for _, limit := range []int{-1, 0, store.MaxEvents + 1} {
		_, err := t.Store.History(t.Context(), orders(), "", limit)
		require.ErrorIs(t, err, store.ErrInvalid, limit)
	}
	for _, after := range []string{
		"x", "-", "+", "$", "1", "1-", "-1", "1-x", "1-0 ", "(1-0", "01-0", "1-+1", "1-1-1", "-1-0",
		"18446744073709551616-0", "18446744073709551615-18446744073709551615",
	} {
		_, err := t.Store.History(t.Context(), orders(), after, 1)
		require.ErrorIs(t, err, store.ErrInvalid, after)
	}
	_, err := t.Store.History(t.Context(), orders(), "18446744073709551615-0", 1)
	require.NoError(t, err)
}
