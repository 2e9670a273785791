package redisstore

import (
	"fmt"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// The ends of keys. A stream's own record has others than a group's, because a group
// "a:b" and a stream of that name share the hash tag.
const (
	groupRecord  = ":metadata"
	streamRecord = ":stream"
	indexKey     = ":groups"
	peersKey     = ":coordinators"
)

// keyspace builds and reads the names of all keys under one prefix.
type keyspace struct {
	prefix string
}

// keys are the keys of one record; they share a hash slot.
type keys struct {
	record, events, lease string
}

func newKeyspace(prefix string) (keyspace, error) {
	if err := protocol.CheckStreamPrefix(prefix, ""); err != nil {
		return keyspace{}, fmt.Errorf("%w: key prefix: %w", store.ErrInvalid, err)
	}
	return keyspace{prefix: prefix}, nil
}

// of returns the keys of a record whose key has been checked. The braces are part of
// the keys: what is between them decides the hash slot.
func (k keyspace) of(key store.Key) keys {
	if key.Group == "" {
		tag := k.prefix + ":{" + key.Stream + "}" + streamRecord
		return keys{record: tag, events: tag + ":events", lease: tag + ":lease"}
	}
	tag := k.prefix + ":{" + key.Stream + ":" + key.Group + "}"
	return keys{record: tag + groupRecord, events: tag + ":events", lease: tag + ":lease"}
}

// index returns the key of the set of all records.
func (k keyspace) index() string { return k.prefix + indexKey }

// peers returns the key of the hash of all coordinators.
func (k keyspace) peers() string { return k.prefix + peersKey }

// parse returns whose record the Redis key holds, and false when it holds none.
func (k keyspace) parse(name string) (store.Key, bool) {
	rest, ours := strings.CutPrefix(name, k.prefix+":{")
	if !ours {
		return store.Key{}, false
	}
	text, isGroup := strings.CutSuffix(rest, "}"+groupRecord)
	if !isGroup {
		stream, isStream := strings.CutSuffix(rest, "}"+streamRecord)
		if !isStream {
			return store.Key{}, false
		}
		text = stream + ":"
	}
	key, err := store.ParseKey(text, k.prefix)
	if err != nil || isGroup == (key.Group == "") {
		return store.Key{}, false
	}
	return key, true
}

// pattern matches every key of a record, for SCAN; it matches others too.
func (k keyspace) pattern() string { return escapeGlob(k.prefix) + ":{*}:*" }

// escapeGlob takes the meaning from the characters that a pattern of Redis gives one.
func escapeGlob(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `^`, `\^`, `-`, `\-`).Replace(text)
}
