package idempotency_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/idempotency"
)

// stores are all kinds of stores, each with what makes time pass for a key of it.
func stores(t *testing.T) map[string]timed {
	t.Helper()
	var clock dial
	rdb := redisproc.Start(t).Client(t)
	return map[string]timed{
		"local": {idempotency.NewLocal(1_000), clock.now, func(_ string, d time.Duration) {
			clock.since.Add(int64(d))
		}},
		"redis": {idempotency.NewRedis(rdb, prefix), clock.now, func(key string, d time.Duration) {
			name := prefix + ":gateway:idempotency:" + key
			left, err := rdb.PTTL(t.Context(), name).Result()
			require.NoError(t, err)
			require.NoError(t, rdb.PExpire(t.Context(), name, left-d).Err())
		}},
	}
}

const prefix = "redis-stream:coord"

type timed struct {
	idempotency.Store
	now  func() time.Time
	pass func(key string, d time.Duration)
}

func (s timed) claimBy(t *testing.T, c idempotency.Claim) idempotency.Found {
	t.Helper()
	found, err := s.Claim(t.Context(), c, s.now())
	require.NoError(t, err)
	return found
}

func (s timed) keep(t *testing.T, c idempotency.Claim, body string) {
	t.Helper()
	answer := idempotency.Answer{Status: 202, ContentType: "application/json", Body: []byte(body)}
	require.NoError(t, s.Keep(t.Context(), c, answer, s.now()))
}

func claimOf(key, token string) idempotency.Claim {
	return idempotency.Claim{Key: key, BodyHash: "hash of " + token, Token: token}
}

// TestStoresHoldTheContract runs every claim of Store against every store.
func TestStoresHoldTheContract(t *testing.T) {
	t.Parallel()
	claims := map[string]func(*testing.T, timed){
		"a free key is claimed, then under way, then kept":         storeKeeps,
		"the same token claims the same again":                     storeClaimsAgain,
		"a dropped key is free and only its claimer drops it":      storeDrops,
		"a claim ends after two minutes and a late answer is none": storeEndsClaims,
		"a late answer does not touch another one's claim":         storeFences,
		"an answer is kept for 24 hours from when it was given":    storeEndsAnswers,
		"an answer is binary and may be empty":                     storeIsBinary,
		"one of a hundred at once has the key":                     storeIsAtomic,
	}
	for kind, store := range stores(t) {
		for claim, check := range claims {
			t.Run(kind+": "+claim, func(t *testing.T) {
				if kind == "redis" {
					t.Parallel() // the local one has its clock set
				}
				check(t, store)
			})
		}
	}
}

func storeKeeps(t *testing.T, s timed) {
	t.Helper()
	first, second := claimOf("keeps", "1"), claimOf("keeps", "2")
	require.Equal(t, idempotency.Found{State: idempotency.Claimed}, s.claimBy(t, first))
	require.Equal(t, idempotency.Found{State: idempotency.UnderWay, BodyHash: "hash of 1"}, s.claimBy(t, second))
	s.keep(t, first, "answer")
	want := idempotency.Found{State: idempotency.Kept, BodyHash: "hash of 1", Answer: idempotency.Answer{
		Status: 202, ContentType: "application/json", Body: []byte("answer"),
	}}
	require.Equal(t, want, s.claimBy(t, second))
	s.keep(t, first, "another answer")
	s.keep(t, second, "another answer")
	require.NoError(t, s.Drop(t.Context(), first))
	require.NoError(t, s.Drop(t.Context(), second))
	require.Equal(t, want, s.claimBy(t, second), "what is kept stays")
	require.Equal(t, want, s.claimBy(t, first), "for everybody")
}

func storeClaimsAgain(t *testing.T, s timed) {
	t.Helper()
	first := claimOf("again", "1")
	require.Equal(t, idempotency.Claimed, s.claimBy(t, first).State)
	require.Equal(t, idempotency.Claimed, s.claimBy(t, first).State)
	require.Equal(t, idempotency.UnderWay, s.claimBy(t, claimOf("again", "2")).State)
}

func storeDrops(t *testing.T, s timed) {
	t.Helper()
	first, second := claimOf("drops", "1"), claimOf("drops", "2")
	s.claimBy(t, first)
	require.NoError(t, s.Drop(t.Context(), second))
	require.Equal(t, idempotency.UnderWay, s.claimBy(t, second).State)
	require.NoError(t, s.Drop(t.Context(), first))
	require.NoError(t, s.Drop(t.Context(), first))
	require.Equal(t, idempotency.Claimed, s.claimBy(t, second).State)
	require.Equal(t, "hash of 2", s.claimBy(t, claimOf("drops", "3")).BodyHash)
}

func storeEndsClaims(t *testing.T, s timed) {
	t.Helper()
	first, second := claimOf("ends", "1"), claimOf("ends", "2")
	s.claimBy(t, first)
	s.pass("ends", idempotency.ClaimLife-time.Minute)
	require.Equal(t, idempotency.UnderWay, s.claimBy(t, second).State)
	s.pass("ends", time.Minute)
	s.keep(t, first, "late")
	require.Equal(t, idempotency.Claimed, s.claimBy(t, second).State)
	require.Equal(t, "hash of 2", s.claimBy(t, claimOf("ends", "3")).BodyHash)
}

func storeFences(t *testing.T, s timed) {
	t.Helper()
	first, second := claimOf("fences", "1"), claimOf("fences", "2")
	s.claimBy(t, first)
	s.pass("fences", idempotency.ClaimLife)
	s.claimBy(t, second)
	s.keep(t, first, "late")
	require.NoError(t, s.Drop(t.Context(), first))
	require.Equal(t, idempotency.UnderWay, s.claimBy(t, claimOf("fences", "3")).State)
	s.keep(t, second, "mine")
	require.Equal(t, []byte("mine"), s.claimBy(t, first).Answer.Body)
}

func storeEndsAnswers(t *testing.T, s timed) {
	t.Helper()
	first := claimOf("answers", "1")
	s.claimBy(t, first)
	s.pass("answers", time.Minute)
	s.keep(t, first, "answer")
	s.pass("answers", idempotency.AnswerLife-30*time.Second)
	require.Equal(t, idempotency.Kept, s.claimBy(t, claimOf("answers", "2")).State)
	s.pass("answers", 30*time.Second)
	require.Equal(t, idempotency.Claimed, s.claimBy(t, claimOf("answers", "2")).State)
}

func storeIsBinary(t *testing.T, s timed) {
	t.Helper()
	for key, answer := range map[string]idempotency.Answer{
		"binary": {Status: 201, ContentType: "a/b; c=\"\x00\"", Body: []byte("\x00\r\n\xff$1")},
		"empty":  {Status: 204, Body: []byte{}},
	} {
		c := idempotency.Claim{Key: key, Token: "1"}
		s.claimBy(t, c)
		require.NoError(t, s.Keep(t.Context(), c, answer, s.now()))
		found := s.claimBy(t, idempotency.Claim{Key: key, Token: "2"})
		require.Equal(t, idempotency.Found{State: idempotency.Kept, Answer: answer}, found)
	}
}

func storeIsAtomic(t *testing.T, s timed) {
	t.Helper()
	var claimed atomic.Int64
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			found, err := s.Claim(t.Context(), claimOf("atomic", string(rune('A'+i))), s.now())
			if err != nil {
				t.Error(err)
			}
			if found.State == idempotency.Claimed {
				claimed.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, claimed.Load())
}

func TestStoresSayWhatFailed(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	s := idempotency.NewRedis(server.Client(t), prefix)
	server.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := s.Claim(ctx, claimOf("k", "1"), time.Time{})
	require.ErrorContains(t, err, "claim an Idempotency-Key")
	require.ErrorContains(t, s.Keep(ctx, claimOf("k", "1"), idempotency.Answer{}, time.Time{}), "keep the answer")
	require.ErrorContains(t, s.Drop(ctx, claimOf("k", "1")), "drop the claim")
	require.NotErrorIs(t, err, idempotency.ErrFull)
}
