package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/source"
)

// connection says where coordinator and Redis are.
type connection struct {
	coordinator, redis string
	verbose            bool
}

func (c *connection) flags(f *pflag.FlagSet) {
	f.StringVar(&c.coordinator, "coordinator", "http://127.0.0.1:8080", "URL of the coordinator")
	f.StringVar(&c.redis, "redis", "redis://127.0.0.1:6379",
		"URL of the coordinator's Redis; redis+cluster://host,host for a cluster")
	f.BoolVar(&c.verbose, "verbose", false, "log changes of state, not only warnings")
}

// target says what is published to and read.
type target struct {
	stream, group string
	shards        int
}

func (t *target) flags(f *pflag.FlagSet) {
	f.StringVar(&t.stream, "stream", "", "stream prefix")
	f.StringVar(&t.group, "group", "replay", "consumer group")
}

// creation adds the flags of commands that create the stream.
func (t *target) creation(f *pflag.FlagSet) {
	f.IntVar(&t.shards, "shards", 8, "shards of the stream when it is created")
}

func (t *target) check() error {
	if t.stream == "" {
		return usageError{errors.New("--stream is missing")}
	}
	return nil
}

// input says which records are published, and how.
type input struct {
	file, format, key string
	generate          int64
	seed              uint64
	batch, rate       int
}

func (i *input) flags(f *pflag.FlagSet) {
	f.StringVar(&i.file, "file", "", "file with the records")
	f.StringVar(&i.format, "format", string(source.Auto), "how records lie in the file: auto, ndjson, csv or lines")
	f.StringVar(&i.key, "key", "",
		"field (ndjson), column (csv) or number of the word from 1 (lines) that is the key; without it\n"+
			"records are spread by their text")
	f.Int64Var(&i.generate, "generate", 0, "publish so many generated records instead of a file")
	f.Uint64Var(&i.seed, "seed", 1, "seed of the generator; the same seed gives the same records")
	f.IntVar(&i.rate, "rate", 0, "records to publish a second at most; 0 is no limit")
	f.IntVar(&i.batch, "publish-batch", 500, "records in one pipeline of the producer")
}

func (i *input) check() error {
	switch {
	case (i.file == "") == (i.generate == 0):
		return usageError{errors.New("either --file or --generate is needed")}
	case i.generate < 0 || i.batch < 1 || i.rate < 0:
		return usageError{errors.New("--generate and --rate cannot be negative, --publish-batch is at least 1")}
	default:
		return nil
	}
}

// source returns the records.
func (i *input) source() (source.Source, error) {
	if i.file == "" {
		return source.Generated(i.generate, i.seed), nil
	}
	format, err := source.ParseFormat(i.format)
	if err != nil {
		return source.Source{}, usageError{err}
	}
	return source.File(i.file, format, i.key)
}

// consumption says how consumers read.
type consumption struct {
	concurrency, workers, batch int
	work                        time.Duration
}

func (c *consumption) flags(f *pflag.FlagSet) {
	f.IntVar(&c.concurrency, "concurrency", 1, "logical members of each consumer")
	f.IntVar(&c.workers, "workers", 1, "records that one member handles at once, of different shards")
	f.IntVar(&c.batch, "batch", 100, "records in one read")
	f.DurationVar(&c.work, "work", 0, "how long the handling of a record takes")
}

func (c *consumption) check() error {
	if c.concurrency < 1 || c.workers < 1 || c.batch < 1 || c.work < 0 {
		return usageError{errors.New("--concurrency, --workers and --batch are at least 1, --work is not negative")}
	}
	return nil
}

// args returns the flags for a consumer in a process of its own.
func (c *consumption) args() []string {
	return []string{
		"--concurrency", fmt.Sprint(c.concurrency), "--workers", fmt.Sprint(c.workers),
		"--batch", fmt.Sprint(c.batch), "--work", c.work.String(),
	}
}
