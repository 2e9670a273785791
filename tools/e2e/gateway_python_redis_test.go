package e2e_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// pythonPublish writes a record like the client does. A nil answer is an error.
func (h *pythonHouse) pythonPublish(t *testing.T, key, trim string, fields ...any) (string, error) {
	t.Helper()
	return h.redis.Do(t.Context(), append([]any{"XADD", key, "NOMKSTREAM", "MAXLEN", trim, 100000, "*"}, fields...)...).Text()
}

// pythonPoll reads like the client does, and acknowledges everything. It returns the records
// by the field n.
func (m *pythonMember) pythonPoll(t *testing.T, h *pythonHouse) []string {
	t.Helper()
	if !m.reads() || len(m.shards) == 0 {
		return nil
	}
	keys := m.keys()
	command := []any{"XREADGROUP", "GROUP", m.group, m.id, "COUNT", 10, "BLOCK", 250, "STREAMS"}
	for _, key := range keys {
		command = append(command, key)
	}
	for range keys {
		command = append(command, ">")
	}
	reply, err := h.redis.Do(t.Context(), command...).Slice()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	require.NoError(t, err, "an error ends the listener's thread")
	var seen []string
	for _, one := range reply {
		of, is := one.([]any)
		require.True(t, is)
		records, is := of[1].([]any)
		require.True(t, is)
		for _, one := range records {
			record, is := one.([]any)
			require.True(t, is)
			fields, is := record[1].([]any)
			require.True(t, is)
			require.Equal(t, "n", fields[0])
			seen = append(seen, fmt.Sprint(fields[1]))
			acked, err := h.redis.Do(t.Context(), "XACK", of[0], m.group, record[0]).Int()
			require.NoError(t, err)
			require.Equal(t, 1, acked)
		}
	}
	return seen
}

// The server has the Redis version 7; XACKDEL and XNACK, which the client sends from 8.2 and
// 8.8 on, need nothing of the suite either.
func pythonCommands(t *testing.T, h *pythonHouse) {
	t.Helper()
	var vectors struct {
		Route []struct {
			KeyHex       string
			ShardCount   int64
			Shard, Times int64
			KeyRepeat    *struct{}
		}
	}
	readContract(t, "routing-vectors.json", &vectors)
	const count = 4
	h.create(t, "py-commands", count)
	member := h.client.member("py-commands", group, "fe80::7").beat(t)
	require.Len(t, member.shards, count)
	require.Empty(t, member.pythonPoll(t, h), "the group is on every shard before the shard is assigned")

	routing := h.client.routing(t, "py-commands")
	sent := map[string]string{} // the key of the shard by n
	for i, one := range vectors.Route {
		if one.ShardCount != count || one.KeyRepeat != nil {
			continue
		}
		key, err := hex.DecodeString(one.KeyHex)
		require.NoError(t, err)
		n := fmt.Sprintf("%d-%x", i, key)
		_, err = h.pythonPublish(t, routing.keys[one.Shard], []string{"~", "="}[i%2], "n", n)
		require.NoError(t, err)
		sent[n] = routing.keys[one.Shard]
	}
	require.NotEmpty(t, sent)
	got := map[string]bool{}
	soon(t, "all that was published is read", func() bool {
		for _, n := range member.pythonPoll(t, h) {
			require.Contains(t, sent, n)
			require.False(t, got[n], "read once")
			got[n] = true
		}
		return len(got) == len(sent)
	})
	for shard, key := range routing.keys {
		require.Equal(t, fmt.Sprintf("py-commands:%d", shard), key, "the client builds the keys that it reads itself")
		pending, err := h.redis.XPending(t.Context(), key, group).Result()
		require.NoError(t, err)
		require.Zero(t, pending.Count)
		consumers, err := h.redis.XInfoConsumers(t.Context(), key, group).Result()
		require.NoError(t, err)
		require.Len(t, consumers, 1)
		require.Equal(t, "fe80::7", consumers[0].Name, "the consumer's name is the member id")
	}
	_, err := h.pythonPublish(t, "py-commands:4", "~", "n", 1)
	require.ErrorIs(t, err, redis.Nil, "where there is no shard nothing is made")
}

// L3, L5: removed shards are read until they are empty, by a client that releases a shard by
// no longer reporting it, and then take nothing any more: the client asks for the routing
// again. Until then its old routing may be 5 s old.
func pythonScaledIn(t *testing.T, h *pythonHouse) {
	t.Helper()
	h.create(t, "py-scaled", 4)
	member := h.client.member("py-scaled", group, "reader").beat(t)
	require.Len(t, member.shards, 4)
	before := h.client.routing(t, "py-scaled")
	asked := time.Now()
	h.ask(t, http.MethodPost, "/streams/py-scaled/scale", `{"targetShardCount": 2, "requestedBy": "e2e", "reason": "less"}`, http.StatusAccepted)

	sent, got := map[string]bool{}, map[string]bool{}
	writable := func(index int64) bool {
		n := fmt.Sprint(len(sent))
		_, err := h.pythonPublish(t, before.keys[index], "~", "n", n)
		if err == nil {
			sent[n] = true
		}
		return err == nil
	}
	require.True(t, writable(3), "just after the change the old routing still works")
	sealed := map[int64]bool{}
	member.until(t, "has the two shards that stay", func() bool {
		require.True(t, member.reads())
		for _, n := range member.pythonPoll(t, h) {
			got[n] = true
		}
		for _, index := range []int64{2, 3} {
			if time.Since(asked) < pythonLimit-500*time.Millisecond {
				took := writable(index)
				require.True(t, took || time.Since(asked) >= pythonLimit, "within 5 s of the routing")
			} else if kind := h.redis.Type(t.Context(), before.keys[index]).Val(); kind != "stream" && !sealed[index] {
				sealed[index] = true
				require.False(t, writable(index), "a removed shard takes nothing")
			}
		}
		return len(sealed) == 2 && len(member.shards) == 2
	})
	require.Equal(t, sent, got, "what was written by the old routing was read")
	after := h.client.routing(t, "py-scaled")
	require.Equal(t, int64(2), after.count)
	_, err := h.pythonPublish(t, after.keys[1], "~", "n", "last")
	require.NoError(t, err, "the second attempt, by the new routing")
	for _, status := range member.seen {
		require.Equal(t, protocol.StatusOK, status)
	}
	require.Equal(t, map[int64]string{0: "py-scaled:0", 1: "py-scaled:1"}, after.keys)
}
