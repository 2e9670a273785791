package client

import (
	"errors"
	"math/big"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRecordBecomesAnXADDThatCreatesNothing(t *testing.T) {
	t.Parallel()
	rec := Record{Key: "k", Fields: map[string]any{"z": 1, "a": "x"}, Values: []any{"m", []byte{1}}}
	for name, c := range map[string]struct {
		opts ProducerOptions
		want []any
	}{
		"plain": {ProducerOptions{}, []any{"XADD", nil, "NOMKSTREAM", "*", "_key", "k", "a", "x", "z", 1, "m", []byte{1}}},
		"trimmed": {ProducerOptions{MaxLen: 10, OmitKeyField: true}, []any{
			"XADD", nil, "NOMKSTREAM", "MAXLEN", "~", int64(10), "*", "a", "x", "z", 1, "m", []byte{1},
		}},
		"trimmed exactly": {ProducerOptions{MaxLen: 10, ExactTrim: true, OmitKeyField: true}, []any{
			"XADD", nil, "NOMKSTREAM", "MAXLEN", "=", int64(10), "*", "a", "x", "z", 1, "m", []byte{1},
		}},
	} {
		args, err := newEncoder(c.opts).args(&rec)
		require.NoError(t, err)
		require.Equal(t, c.want, args, name)
	}
}

func TestRecordsOwnKeyFieldIsKept(t *testing.T) {
	t.Parallel()
	encoder := newEncoder(ProducerOptions{})
	for _, rec := range []Record{
		{Key: "k", Fields: map[string]any{KeyField: "own"}},
		{Key: "k", Values: []any{KeyField, "own"}},
	} {
		args, err := encoder.args(&rec)
		require.NoError(t, err)
		require.Equal(t, []any{"XADD", nil, "NOMKSTREAM", "*", KeyField, "own"}, args)
	}
	args, err := encoder.args(&Record{Key: "k", Values: []any{[]byte(KeyField), KeyField}})
	require.ErrorIs(t, err, ErrInvalidRecord, "%v", args)
}

func TestKeyAloneMakesARecord(t *testing.T) {
	t.Parallel()
	_, err := newEncoder(ProducerOptions{}).args(&Record{Key: "k"})
	require.NoError(t, err)
	_, err = newEncoder(ProducerOptions{OmitKeyField: true}).args(&Record{Key: "k"})
	require.ErrorIs(t, err, ErrInvalidRecord)
}

func TestValuesThatRedisCannotBeGivenAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	encoder := newEncoder(ProducerOptions{})
	for _, value := range []any{
		nil, "s", []byte("b"), true, 1, int8(1), int16(1), int32(1), int64(1), uint(1), uint8(1), uint16(1),
		uint32(1), uint64(1), float32(1), 1.5, time.Now(), time.Second, &url.URL{Host: "h"},
	} {
		_, err := encoder.args(&Record{Fields: map[string]any{"f": value}})
		require.NoError(t, err, "%T", value)
	}
	for _, value := range []any{
		map[string]any{}, []string{"a"}, struct{}{}, new(string), errors.New("e"), func() {}, big.NewInt(1),
	} {
		_, err := encoder.args(&Record{Fields: map[string]any{"f": value}})
		require.ErrorIs(t, err, ErrInvalidRecord, "%T", value)
	}
	for _, values := range [][]any{{"odd"}, {1, "number as a name"}, {"f", "v", "odd"}} {
		_, err := encoder.args(&Record{Values: values})
		require.ErrorIs(t, err, ErrInvalidRecord, "%v", values)
	}
}

type unmarshalable struct{}

func (unmarshalable) MarshalBinary() ([]byte, error) { return nil, errBroken }

var errBroken = errors.New("broken")

func TestValueThatCannotMarshalItselfIsRefusedWithItsError(t *testing.T) {
	t.Parallel()
	_, err := newEncoder(ProducerOptions{}).args(&Record{Fields: map[string]any{"f": unmarshalable{}}})
	require.ErrorIs(t, err, ErrInvalidRecord)
	require.ErrorIs(t, err, errBroken)
}

func TestEncodingLeavesTheRecordAsItIs(t *testing.T) {
	t.Parallel()
	values := []any{"at", &url.URL{Host: "h"}}
	_, err := newEncoder(ProducerOptions{}).args(&Record{Values: values})
	require.NoError(t, err)
	require.Equal(t, []any{"at", &url.URL{Host: "h"}}, values)
}
