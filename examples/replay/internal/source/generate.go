package source

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
)

// GeneratedKey is the field of generated records that is their key.
const GeneratedKey = "key"

// generatedKeys is how many keys there are at most. A few of them are much more frequent
// than the others, as in life.
const generatedKeys = 5_000

// Generated returns count records of NDJSON. The same count and seed give the same bytes.
func Generated(count int64, seed uint64) Source {
	return Source{
		Name: fmt.Sprintf("generator (%d records, seed %d)", count, seed), format: NDJSON, key: GeneratedKey,
		open: func() (io.ReadCloser, error) {
			random := rand.New(rand.NewPCG(seed, seed))
			return io.NopCloser(&generator{
				random: random, keys: rand.NewZipf(random, 1.2, 8, generatedKeys-1), left: count,
			}), nil
		},
	}
}

// generator is the file of generated records, made while it is read.
type generator struct {
	random *rand.Rand
	keys   *rand.Zipf
	next   int64
	left   int64
	buffer bytes.Buffer
}

// Read implements io.Reader.
func (g *generator) Read(p []byte) (int, error) {
	for g.left > 0 && g.buffer.Len() < len(p) {
		g.left--
		g.next++
		fmt.Fprintf(&g.buffer, "{\"%s\":\"k-%04d\",\"number\":%d,\"amount\":%d,\"note\":\"%016x\"}\n",
			GeneratedKey, g.keys.Uint64(), g.next, g.random.IntN(100_000), g.random.Uint64())
	}
	return g.buffer.Read(p)
}
