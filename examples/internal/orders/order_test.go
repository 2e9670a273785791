package orders_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/internal/orders"
)

func TestAnOrderIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for id := range int64(100) {
		drawn := orders.Draw(id)
		fields, err := drawn.Fields()
		require.NoError(t, err)
		text, is := fields["payload"].([]byte)
		require.True(t, is)
		read, err := orders.Parse(map[string]string{"payload": string(text)})
		require.NoError(t, err)
		require.Equal(t, drawn, read)
	}
}

func TestWhatIsNoOrderIsRefusedForGood(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]map[string]string{
		"no field":    {"other": "1"},
		"no JSON":     {"payload": "<xml/>"},
		"other JSON":  {"payload": `{"a":1}`},
		"no amount":   {"payload": `{"id":1,"customer":"c","cents":0}`},
		"no customer": {"payload": `{"id":1,"cents":5}`},
	} {
		_, err := orders.Parse(fields)
		require.ErrorIs(t, err, orders.ErrNoOrder, name)
	}
}

func TestALoginIsWholeOrNone(t *testing.T) {
	t.Parallel()
	require.NoError(t, orders.Client{}.Validate())
	require.NoError(t, orders.Client{Username: "worker", Password: "secret"}.Validate())
	require.ErrorContains(t, orders.Client{Username: "worker"}.Validate(), "client.password")
	require.ErrorContains(t, orders.Client{Password: "secret"}.Validate(), "client.username")
}
