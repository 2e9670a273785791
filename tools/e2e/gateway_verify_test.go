package e2e_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	auditKey  = protocol.DefaultKeyPrefix + ":gateway:audit"
	auditHead = auditKey + ":head:{" + auditKey + "}"
)

// tampering is what somebody with access to Redis does to the entries of the audit, oldest
// first, and what has to be said about it.
type tampering struct {
	name string
	with func([]redis.XMessage) []redis.XMessage
	says []string
}

func tamperings() []tampering {
	return []tampering{
		{"a byte of a record changed", func(all []redis.XMessage) []redis.XMessage {
			return rewritten(all, 2, `"principal":"ops"`, `"principal":"opt"`)
		}, []string{"CHANGED", "record 3 was changed"}},
		{"a status changed", func(all []redis.XMessage) []redis.XMessage {
			return rewritten(all, len(all)-1, `"status":403`, `"status":202`)
		}, []string{"CHANGED", "record 8 was changed"}},
		{"a record removed", func(all []redis.XMessage) []redis.XMessage {
			return slices.Delete(all, 3, 4)
		}, []string{"MISSING", "record 4 is missing"}},
		{"records removed", func(all []redis.XMessage) []redis.XMessage {
			return slices.Delete(all, 1, 4)
		}, []string{"MISSING", "records 2 to 4 are missing"}},
		{"two records that changed places", func(all []redis.XMessage) []redis.XMessage {
			all[4].Values, all[5].Values = all[5].Values, all[4].Values
			return all
		}, []string{"REORDERED", "record 5 stands behind record 6"}},
		{"the newest record removed", func(all []redis.XMessage) []redis.XMessage {
			return all[:len(all)-1]
		}, []string{"END_MISSING", "the chain ends with record 7, and had 8"}},
		{"a record twice", func(all []redis.XMessage) []redis.XMessage {
			return append(all, redis.XMessage{ID: "9999999999999-0", Values: all[6].Values})
		}, []string{"there are two records 7"}},
		{"what is no record in the place of one", func(all []redis.XMessage) []redis.XMessage {
			return rewritten(all, 5, "{", "[")
		}, []string{"record 6"}},
		{"everything removed", func([]redis.XMessage) []redis.XMessage { return nil }, []string{"END_MISSING", "had 8"}},
	}
}

// gateway, Audit: rscctl audit verify tells what was changed, removed or moved in Redis, and
// which record it is.
func TestGatewayAuditThatWasTamperedWithIsNoticed(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, guardedPlan{coordinators: 1, gateways: 1})
	ops, viewer := g.login(userOps), g.login(userViewer)
	g.passes(createStream(ops, stream), http.StatusCreated)
	g.passes(createStream(ops, stream), http.StatusConflict)
	g.passes(planScale(ops, stream), http.StatusOK)
	g.refused(planScale("", stream), http.StatusUnauthorized, protocol.CodeUnauthorized)
	g.refused(planScale(viewer, stream), http.StatusForbidden, protocol.CodeForbidden)
	whole := g.rscctl(viewer, "audit", "verify")
	require.Zero(t, whole.code, whole.text)
	require.Contains(t, whole.text, "The audit is whole: 8 records.")

	db := g.audited.Client(t)
	kept, err := db.XRange(t.Context(), auditKey, "-", "+").Result()
	require.NoError(t, err)
	require.Len(t, kept, 8, "three that were sent have two, two refusals have one")
	for _, one := range tamperings() {
		step(t, one.name, func() {
			writeAnew(t, db, one.with(copied(kept)))
			got := g.rscctl(viewer, "audit", "verify")
			require.Equal(t, 1, got.code, got.text)
			require.NotContains(t, got.text, "is whole")
			for _, says := range one.says {
				require.Contains(t, got.text, says)
			}
		})
	}
	step(t, "an end that was cut off with its head shows by the hash that was noted", func() {
		writeAnew(t, db, copied(kept)[:6])
		setHead(t, db, kept[5])
		got := g.rscctl(viewer, "audit", "verify")
		require.Contains(t, got.text, "The audit is whole: 6 records.")
		require.Len(t, whole.newest(), 64)
		require.NotEqual(t, whole.newest(), got.newest())
		setHead(t, db, kept[7])
	})
	writeAnew(t, db, copied(kept))
	require.Equal(t, whole, g.rscctl(viewer, "audit", "verify"), "put back, it is whole again")
	g.passes(createStream(ops, "payments"), http.StatusCreated)
	after := g.rscctl(viewer, "audit", "verify")
	require.Zero(t, after.code, after.text)
	require.Contains(t, after.text, "The audit is whole: 10 records.")
}

func setHead(t *testing.T, db *redis.Client, newest redis.XMessage) {
	t.Helper()
	require.NoError(t, db.HSet(t.Context(), auditHead, "sequence", newest.Values["sequence"], "hash", newest.Values["hash"]).Err())
}

// newest is the hash that audit verify tells to be noted.
func (r told) newest() string {
	_, rest, _ := strings.Cut(r.text, "with hash ")
	hash, _, _ := strings.Cut(rest, ";")
	return hash
}

// rewritten changes the text of one entry's record.
func rewritten(all []redis.XMessage, at int, from, to string) []redis.XMessage {
	text, _ := all[at].Values["record"].(string)
	all[at].Values["record"] = strings.Replace(text, from, to, 1)
	return all
}

func copied(all []redis.XMessage) []redis.XMessage {
	var copies []redis.XMessage
	for _, one := range all {
		copies = append(copies, redis.XMessage{ID: one.ID, Values: maps.Clone(one.Values)})
	}
	return copies
}

// writeAnew puts entries in the place of those of the audit, under the ids that they have.
func writeAnew(t *testing.T, db *redis.Client, entries []redis.XMessage) {
	t.Helper()
	_, err := db.TxPipelined(t.Context(), func(tx redis.Pipeliner) error {
		tx.Del(t.Context(), auditKey)
		for _, one := range entries {
			tx.XAdd(t.Context(), &redis.XAddArgs{Stream: auditKey, ID: one.ID, Values: one.Values})
		}
		return nil
	})
	require.NoError(t, err)
}
