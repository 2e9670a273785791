package source

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"strconv"
	"strings"
)

// Buckets is the number of keys over which records without a key are spread.
const Buckets = 1024

// line is one line with its number, from 1.
type line struct {
	number int64
	text   []byte // valid until the next
}

// lines returns the lines of body without their ends (\n or \r\n).
func lines(body io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		scanner := bufio.NewScanner(body)
		scanner.Buffer(make([]byte, 64<<10), MaxRecord)
		number := int64(0)
		for scanner.Scan() {
			number++
			if !yield(line{number: number, text: scanner.Bytes()}, nil) {
				return
			}
		}
		if err := scanner.Err(); err != nil {
			yield(line{}, fmt.Errorf("line %d: %w", number+1, err))
		}
	}
}

// parseLines takes the word of the given number for the key; a line with fewer words has
// the empty key.
func parseLines(body io.Reader, key string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		word := 0
		if key != "" {
			var err error
			if word, err = strconv.Atoi(key); err != nil || word < 1 {
				yield(Record{}, fmt.Errorf("%w: the key of a line is the number of a word, from 1, not %q", ErrNoKey, key))
				return
			}
		}
		for one, err := range lines(body) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			text := string(one.text)
			if !yield(Record{Seq: one.number, Key: lineKey(text, word), Data: text}, nil) {
				return
			}
		}
	}
}

func lineKey(text string, word int) string {
	if word == 0 {
		return bucket(text)
	}
	for field := range strings.FieldsSeq(text) {
		if word--; word == 0 {
			return field
		}
	}
	return ""
}

// bucket gives a record without a key of its own one of Buckets keys, by its text.
func bucket(text string) string {
	return "b" + strconv.Itoa(int(crc32.ChecksumIEEE([]byte(text))%Buckets))
}
