package routing

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/murmur3"
)

const contractDir = "testdata/contract"

type keyForm struct {
	KeyHex    *string `json:"keyHex"`
	KeyRepeat *struct {
		Hex   string `json:"hex"`
		Times int    `json:"times"`
	} `json:"keyRepeat"`
}

type routingVectors struct {
	RetrySeeds []struct {
		Attempt uint32 `json:"attempt"`
		Seed    uint32 `json:"seed"`
	} `json:"retrySeeds"`
	Hash []struct {
		keyForm
		Murmur3 uint32 `json:"murmur3"`
	} `json:"hash"`
	Route []struct {
		keyForm
		ShardCount int  `json:"shardCount"`
		Shard      int  `json:"shard"`
		Rejections *int `json:"rejections"`
	} `json:"route"`
}

type slotVectors struct {
	Slots []struct {
		Key    *string `json:"key"`
		KeyHex string  `json:"keyHex"`
		Slot   int     `json:"slot"`
	} `json:"slots"`
	SameSlot [][]string `json:"sameSlot"`
}

func (k keyForm) bytes(t *testing.T) []byte {
	t.Helper()
	if k.KeyRepeat != nil {
		part, err := hex.DecodeString(k.KeyRepeat.Hex)
		require.NoError(t, err)
		return bytes.Repeat(part, k.KeyRepeat.Times)
	}
	require.NotNil(t, k.KeyHex, "a vector without a key")
	key, err := hex.DecodeString(*k.KeyHex)
	require.NoError(t, err)
	return key
}

func load(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(contractDir, name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

func TestEveryHashVectorHolds(t *testing.T) {
	t.Parallel()
	var v routingVectors
	load(t, "routing-vectors.json", &v)
	require.Len(t, v.Hash, 100)
	for _, h := range v.Hash {
		key := h.bytes(t)
		require.Equal(t, h.Murmur3, murmur3.SeedSum32(0, key), "key %x", key)
		require.Equal(t, h.Murmur3, murmur3.SeedStringSum32(0, string(key)), "key %x", key)
	}
}

func TestEveryRetrySeedVectorHolds(t *testing.T) {
	t.Parallel()
	var v routingVectors
	load(t, "routing-vectors.json", &v)
	require.Len(t, v.RetrySeeds, 10)
	for _, r := range v.RetrySeeds {
		require.Equal(t, r.Seed, retrySeed(r.Attempt), "attempt %d", r.Attempt)
	}
}

func TestEveryRouteVectorHolds(t *testing.T) {
	t.Parallel()
	var v routingVectors
	load(t, "routing-vectors.json", &v)
	require.Len(t, v.Route, 1323)
	retried := 0
	for _, r := range v.Route {
		key := r.bytes(t)
		shard, err := Shard(string(key), r.ShardCount)
		require.NoError(t, err)
		require.Equal(t, r.Shard, shard, "key %x of %d shards", key, r.ShardCount)
		shard, err = ShardBytes(key, r.ShardCount)
		require.NoError(t, err)
		require.Equal(t, r.Shard, shard, "key %x of %d shards", key, r.ShardCount)
		if r.Rejections != nil && *r.Rejections > 0 {
			retried++
		}
	}
	require.Equal(t, 48, retried, "the vectors must take the retry path")
}

func TestEverySlotVectorHolds(t *testing.T) {
	t.Parallel()
	var v slotVectors
	load(t, "slot-vectors.json", &v)
	require.Len(t, v.Slots, 73)
	for _, s := range v.Slots {
		key, err := hex.DecodeString(s.KeyHex)
		require.NoError(t, err)
		require.Equal(t, s.Slot, Slot(string(key)), "key %x", key)
		if s.Key != nil {
			require.Equal(t, *s.Key, string(key))
		}
	}
	require.Len(t, v.SameSlot, 6)
	for _, keys := range v.SameSlot {
		for _, key := range keys {
			require.Equal(t, Slot(keys[0]), Slot(key), "%s and %s", keys[0], key)
		}
	}
}
