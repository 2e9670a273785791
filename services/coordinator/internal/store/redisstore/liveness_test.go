package redisstore

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func TestLivenessComesBackAsItWasTold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		beat := store.Beat{
			Incarnation: rapid.String().Draw(t, "incarnation"),
			Sequence:    rapid.Int64().Draw(t, "sequence"),
			RequestID:   string(rapid.SliceOfN(rapid.Byte(), 0, 128).Draw(t, "request")),
			SyncVersion: rapid.Int64().Draw(t, "sync"),
			Detail:      rapid.SliceOf(rapid.Byte()).Draw(t, "detail"),
		}
		deadline := rapid.Int64Min(0).Draw(t, "deadline")
		var state store.Liveness
		text := strconv.FormatInt(deadline, 10) + " 5 " + told(&beat)
		require.NoError(t, readLiveness(text, &state))
		require.Equal(t, store.Liveness{
			Deadline: store.Millis(deadline), HeardAt: 5, Incarnation: beat.Incarnation,
			Sequence: max(beat.Sequence, 0), RequestID: beat.RequestID, SyncVersion: beat.SyncVersion,
			Detail: append([]byte{}, beat.Detail...),
		}, state)
	})
}

func TestLivenessInAnotherFormIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "1", "1 2 3 4", "1 2 3 4 5 6", "a 2 3 4 i r ", "1 2 x 4 i r ", "1 2 3  i r ", "01 2 3 4 i r ",
		"+1 2 3 4 i r ", "-1 2 3 4 i r ", "1 2 -3 4 i r ", "1  2 3 4 i r ", "9223372036854775808 2 3 4 i r ",
		"1 2 3 4 %zz r ", "1 2 3 4 %41 r ", "1 2 3 4 a\x00 r ", "1e3 2 3 4 i r ", " 1 2 3 4 i r ",
	} {
		var state store.Liveness
		require.Error(t, readLiveness(text, &state), "%q", text)
	}
	for _, text := range []string{"", "5", "-5 x", "x y", "5 a b", "5 %"} {
		var state store.Liveness
		require.Error(t, readSuccessor(text, &state), "%q", text)
	}
}

func FuzzReadLiveness(f *testing.F) {
	for _, seed := range []string{
		"1795975719216 1795975709216 12 3 01J life%20x {\"p\":1}", "1 2 0 0    ", "1 2 3 4 i r ", "1 2 3 4 i r d d\x00",
		"", "9223372036854775807 0 9223372036854775807 -9223372036854775808 %25 %00 ", "01 2 3 4 i r ", "5 x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var state store.Liveness
		if readLiveness(text, &state) == nil {
			again := strconv.FormatInt(int64(state.Deadline), 10) + " " + strconv.FormatInt(int64(state.HeardAt), 10) +
				" " + told(&store.Beat{
				Incarnation: state.Incarnation, Sequence: state.Sequence, RequestID: state.RequestID,
				SyncVersion: state.SyncVersion, Detail: state.Detail,
			})
			require.Equal(t, text, again, "there is one form only")
		}
		state = store.Liveness{}
		if readSuccessor(text, &state) == nil {
			at, _, _ := strings.Cut(text, " ")
			require.Equal(t, text, at+" "+escape(state.Successor))
		}
	})
}
