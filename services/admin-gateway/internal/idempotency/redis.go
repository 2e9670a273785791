package idempotency

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// errReply comes when a script's answer does not have its form.
var errReply = errors.New("unexpected answer of the script")

// Redis keeps answers in Redis, so that every gateway that shares it gives them again. It may
// be used from several goroutines.
type Redis struct {
	rdb               redis.UniversalClient
	prefix            string
	claim, keep, drop *redis.Script
}

// NewRedis returns a store whose keys are {keyPrefix}:gateway:idempotency:…, one hash each.
// It does not connect.
func NewRedis(rdb redis.UniversalClient, keyPrefix string) *Redis {
	return &Redis{
		rdb: rdb, prefix: keyPrefix + ":gateway:idempotency:",
		claim: redis.NewScript(claimSource), keep: redis.NewScript(keepSource), drop: redis.NewScript(dropSource),
	}
}

// claimSource takes a key that is free or this token's already, and answers nothing; else it
// answers the first body's hash and, where there is one, status, content type and body of
// the answer. ARGV: token, body hash, life in ms.
const claimSource = `
local held = redis.call('HMGET', KEYS[1], 'token', 'hash', 'status', 'type', 'body')
if held[1] and held[3] then return {held[2], held[3], held[4], held[5]} end
if held[1] and held[1] ~= ARGV[1] then return {held[2]} end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'hash', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {}`

// keepSource puts an answer to the claim of the token. ARGV: token, status, content type,
// body, life in ms.
const keepSource = `
local held = redis.call('HMGET', KEYS[1], 'token', 'status')
if held[1] ~= ARGV[1] or held[2] then return 0 end
redis.call('HSET', KEYS[1], 'status', ARGV[2], 'type', ARGV[3], 'body', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1`

// dropSource removes the claim of the token. ARGV: token.
const dropSource = `
local held = redis.call('HMGET', KEYS[1], 'token', 'status')
if held[1] ~= ARGV[1] or held[2] then return 0 end
return redis.call('DEL', KEYS[1])`

// Claim implements Store.
func (s *Redis) Claim(ctx context.Context, claim Claim, _ time.Time) (Found, error) {
	answer, err := s.claim.Run(ctx, s.rdb, s.keys(claim), claim.Token, claim.BodyHash, ClaimLife.Milliseconds()).StringSlice()
	if err != nil {
		return Found{}, fmt.Errorf("claim an Idempotency-Key in Redis: %w", err)
	}
	switch len(answer) {
	case 0:
		return Found{State: Claimed}, nil
	case 1:
		return Found{State: UnderWay, BodyHash: answer[0]}, nil
	case 4:
		status, err := strconv.Atoi(answer[1])
		if err != nil {
			return Found{}, fmt.Errorf("read the answer of an Idempotency-Key: %w", err)
		}
		kept := Answer{Status: status, ContentType: answer[2], Body: []byte(answer[3])}
		return Found{State: Kept, BodyHash: answer[0], Answer: kept}, nil
	default:
		return Found{}, fmt.Errorf("claim an Idempotency-Key in Redis: %w: %d entries", errReply, len(answer))
	}
}

// Keep implements Store.
func (s *Redis) Keep(ctx context.Context, claim Claim, answer Answer, _ time.Time) error {
	err := s.keep.Run(ctx, s.rdb, s.keys(claim),
		claim.Token, answer.Status, answer.ContentType, answer.Body, AnswerLife.Milliseconds()).Err()
	if err != nil {
		return fmt.Errorf("keep the answer of an Idempotency-Key in Redis: %w", err)
	}
	return nil
}

// Drop implements Store.
func (s *Redis) Drop(ctx context.Context, claim Claim) error {
	if err := s.drop.Run(ctx, s.rdb, s.keys(claim), claim.Token).Err(); err != nil {
		return fmt.Errorf("drop the claim of an Idempotency-Key in Redis: %w", err)
	}
	return nil
}

func (s *Redis) keys(claim Claim) []string { return []string{s.prefix + claim.Key} }
