package client

import (
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/shardkey"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// missingPause is the pause between two attempts at a shard whose stream or group is missing
// (field case F13).
const missingPause = time.Second

// trouble is the state of a shard that cannot be read. It logs each change once.
type trouble struct {
	log   *slog.Logger
	name  string // empty while all is well
	pause *backoff.ExponentialBackOff
}

func newTrouble(log *slog.Logger) trouble {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 50*time.Millisecond, 2*time.Second
	return trouble{log: log, pause: pause}
}

// failed waits out an error of Redis, for as long as it takes (field cases F13, F18, F22).
// After any error records may have been delivered that were not seen, so what is pending is
// gone through again before the next read.
func (r *reader) failed(err error) {
	r.adopted = false
	if r.stopped.Load() {
		return // the error may be that of a context that ended
	}
	name, missing := string(redisx.StateOf(err)), ""
	switch r.shardKey.Missing(r.ctx, err) {
	case shardkey.MissingStream:
		missing = protocol.ShardErrorStreamMissing
	case shardkey.MissingGroup:
		missing = protocol.ShardErrorGroupMissing
	case shardkey.MissingNothing:
	}
	pause := r.trouble.pause.NextBackOff()
	if missing != "" {
		name, pause = missing, missingPause
	}
	r.troubled(name, missing)
	if r.trouble.name != name {
		r.trouble.name = name
		r.trouble.log.Warn("shard cannot be read", "state", name, "error", err)
	}
	r.pause(pause)
}

// recovered notes that the shard is read.
func (r *reader) recovered() {
	if r.trouble.name == "" {
		return
	}
	r.trouble.log.Info("shard is read again", "after", r.trouble.name)
	r.trouble.name = ""
	r.trouble.pause.Reset()
	r.troubled("", "")
}
