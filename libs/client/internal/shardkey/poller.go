package shardkey

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// Pauses between two tries of Wake.
const (
	firstWake = 2 * time.Millisecond
	lastWake  = 100 * time.Millisecond
)

// Poller reads new records of one shard over a connection of its own, so that a read that is
// out can be ended without losing what it may be about to deliver: CLIENT UNBLOCK makes
// Redis answer it with nothing, where closing the connection could strand a batch. One
// goroutine reads; Wake may be called from any other.
type Poller struct {
	*Reader

	mu   sync.Mutex
	node *redis.Client // where conn leads
	conn *redis.Conn
	id   int64 // of conn at the server; 0 when it may not be asked for
}

// NewPoller returns a Poller for r; it connects with the first read.
func NewPoller(r *Reader) *Poller { return &Poller{Reader: r} }

// Read is Reader.Read on the connection of p.
func (p *Poller) Read(ctx context.Context, count int, block time.Duration) ([]Record, error) {
	conn, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	records, err := p.readOn(ctx, conn, count, block)
	if err == nil {
		return records, nil
	}
	p.Close()
	if state := redisx.StateOf(err); state != redisx.StateMoved && state != redisx.StateAsk {
		return records, err
	}
	// The slot is on the move: the cluster client follows, this once without a way to be woken.
	return p.Reader.Read(ctx, count, block)
}

// Wake ends the read that is out, and goes on until reading says that none is, as the read may
// not have arrived at the server yet. It is a favour: where the server does not allow it, the
// read ends by itself.
func (p *Poller) Wake(ctx context.Context, reading func() bool) {
	for pause := firstWake; reading(); pause = min(2*pause, lastWake) {
		if p.unblock(ctx) != nil || clock.Sleep(ctx, pause) != nil {
			return
		}
	}
}

func (p *Poller) unblock(ctx context.Context) error {
	p.mu.Lock()
	node, id := p.node, p.id
	p.mu.Unlock()
	if id == 0 { // not connected yet, or the server does not tell
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, slack)
	defer cancel()
	return node.ClientUnblock(ctx, id).Err()
}

// Close gives the connection back.
func (p *Poller) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		_ = p.conn.Close()
		p.conn, p.node, p.id = nil, nil, 0
	}
}

func (p *Poller) connect(ctx context.Context) (*redis.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		return p.conn, nil
	}
	node, err := p.primary(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	conn := node.Conn()
	id, err := conn.ClientID(ctx).Result()
	if err != nil && !refused(err) {
		_ = conn.Close()
		return nil, fmt.Errorf("connect to %s: %w", p.key, err)
	}
	p.node, p.conn, p.id = node, conn, id
	return conn, nil
}

// refused tells that the server works and does not let itself be asked: there is no way to
// wake a read then, it ends by itself.
func refused(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && !redisx.StateOf(err).Transient()
}

// primary returns the client of the node that has the shard.
func (p *Poller) primary(ctx context.Context) (*redis.Client, error) {
	switch reads := p.conns.Reads.(type) {
	case *redis.Client:
		return reads, nil
	case *redis.ClusterClient:
		node, err := reads.MasterForKey(ctx, p.key)
		if err != nil {
			return nil, fmt.Errorf("find the node of %s: %w", p.key, err)
		}
		return node, nil
	default:
		return nil, fmt.Errorf("connect to %s: %w: %T", p.key, redisx.ErrClientKind, reads)
	}
}
