package audit

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// redisChain names the one chain of a Redis sink.
	redisChain = "redis"
	// rememberLast is for how long a record that may have been written is known again.
	rememberLast = 24 * time.Hour
)

//go:embed lua/append.lua
var appendSource string

// Redis is a sink in Redis that several gateways share. The records of all are one chain in
// the stream {keyPrefix}:gateway:audit. Its head stands beside it in the same slot, and a
// record is written only behind the head for which its hash was made (compare and set).
//
// A copy of each record of a request that was let through goes to the own stream of its
// group, {keyPrefix}:gateway:audit:{prefix/group}, or where it names none, of its stream,
// {prefix/}. So the history of a quiet group outlasts busy ones, and a flood of requests
// that are refused displaces no history and makes no keys. It lies in another slot of a
// cluster and is therefore written after, as best can be: a copy that fails is logged and
// not made up for. The chain is the global stream.
//
// Both are capped, nearly (MAXLEN ~). It is safe for concurrent use.
type Redis struct {
	rdb             redis.UniversalClient
	stream, headKey string
	lastPrefix      string
	keyPrefix       string
	gatewayID       string
	cap             int64
	log             *slog.Logger
	appendScript    *redis.Script
	tail            *tail
}

// RedisConfig is what a Redis sink needs to know.
type RedisConfig struct {
	// KeyPrefix is the prefix of the suite's own keys.
	KeyPrefix string
	// GatewayID tells this gateway from the others that run at the same time.
	GatewayID string
	// Cap is how many records a stream keeps at least, before older ones go; above 0.
	Cap int64
}

// NewRedis returns a sink; it does not connect. Copies that fail are logged to log.
func NewRedis(rdb redis.UniversalClient, config RedisConfig, log *slog.Logger) *Redis {
	stream := audit.Stream(config.KeyPrefix)
	return &Redis{
		rdb: rdb, stream: stream, headKey: stream + ":head:{" + stream + "}", lastPrefix: stream + ":last:{" + stream + "}:",
		keyPrefix: config.KeyPrefix, gatewayID: config.GatewayID, cap: config.Cap, log: httpx.Logger(log),
		appendScript: redis.NewScript(appendSource), tail: newTail(redisChain),
	}
}

// Append implements Sink.
func (s *Redis) Append(ctx context.Context, record protocol.AuditRecord) error {
	line, err := s.tail.append(record, func(before, next protocol.AuditHead, line []byte) (bool, int64, string, error) {
		return s.put(ctx, before, next, line)
	})
	if err != nil {
		return fmt.Errorf("append to the audit in Redis: %w", err)
	}
	letThrough := record.Intended || record.Kind != protocol.AuditOutcome
	if record.StreamPrefix != "" && letThrough {
		s.copy(ctx, record, line)
	}
	return nil
}

// put writes a line if the head is still the one before it. It returns the head that there is
// then.
func (s *Redis) put(ctx context.Context, before, next protocol.AuditHead, line []byte) (bool, int64, string, error) {
	keys := []string{s.stream, s.headKey, s.lastPrefix + s.gatewayID}
	answer, err := s.appendScript.Run(ctx, s.rdb, keys,
		before.Sequence, before.Hash, next.Sequence, next.Hash, line, s.cap, rememberLast.Milliseconds()).Slice()
	if err != nil {
		return false, 0, "", err
	}
	if len(answer) != 3 {
		return false, 0, "", fmt.Errorf("the script answers %d values", len(answer))
	}
	written, isCount := answer[0].(int64)
	sequence, isNumber := answer[1].(int64)
	hash, isText := answer[2].(string)
	if !isCount || !isNumber || !isText {
		return false, 0, "", errors.New("the script answers values of other types")
	}
	return written == 1, sequence, hash, nil
}

// copy writes a line to the stream of its group, or of its stream.
func (s *Redis) copy(ctx context.Context, record protocol.AuditRecord, line []byte) {
	err := s.rdb.XAdd(ctx, &redis.XAddArgs{
		Stream: audit.OwnStream(s.keyPrefix, record.StreamPrefix, record.ConsumerGroup), MaxLen: s.cap, Approx: true,
		Values: []any{audit.FieldRecord, line},
	}).Err()
	if err != nil {
		s.log.WarnContext(ctx, "audit record not copied to its group's stream", "stream", record.StreamPrefix,
			"group", record.ConsumerGroup, "error", err)
	}
}
