package browser_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// hurry has routing answers run out as soon as they may, so that drains begin early.
const hurry = "RSC_COORDINATION_ROUTING_LEASE=5s"

// lastPayments is the shard that goes first when the count falls.
const lastPayments = paymentShards - 1

// Monitoring, Console: a shard count is changed and changed back by clicks and typing only, each
// with its plan first. The page of the resharding tells what it waits for without being loaded
// again (protocol L1, L4, L8).
func TestAReshardingIsUndoneByItsForm(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo=false", hurry)
	s.create(t)
	s.publishes(t, 1)
	w := s.signedIn(t, userOps)
	w.visit(bookingRoom)
	w.clicks(`a[href$="/scale"]`)
	w.at(bookingRoom + "/scale")
	w.do(chromedp.SetValue(chromedp.CSS("[name=to]"), "3"), chromedp.Click(chromedp.CSS("main button[type=submit]")))
	w.until(`document.querySelector("#plan")`)
	require.Contains(t, w.text(`document.querySelector("#plan").textContent`), "4 → 3")
	w.confirms(payments, "fewer readers")
	w.until(`location.pathname.startsWith("/console` + bookingRoom + `/migrations/")`)
	at := strings.TrimPrefix(w.text("location.pathname"), "/console")
	w.text("window.stays = 'this document'")
	w.until(`document.querySelector("#migration-drains").textContent.includes("Records were not given to booking yet.")`)
	require.Equal(t, "this document", w.text("window.stays"), "the page was not loaded again")
	w.good("draining")

	w.wears(wide, "light")
	w.clicks(`a[href$="/rollback"]`)
	w.at(at + "/rollback")
	w.good("rollback")
	w.wears(wide, "light")
	w.confirms(payments[:3], "second thoughts")
	require.Equal(t, "false", w.text(`document.querySelector("[name=word]").validity.valid`), "the browser itself holds a typing error back")
	w.at(at + "/rollback")
	w.confirms(payments, "second thoughts")
	w.until(fmt.Sprintf(`location.pathname === %q && document.querySelector("#migration-head .state").textContent === "rolled back"`, "/console"+at))
	stream, err := s.admin.Stream(t.Context(), payments)
	require.NoError(t, err)
	require.Equal(t, paymentShards, stream.ShardCount)
	require.Equal(t, "0", w.text(`document.querySelectorAll("a[href$='/rollback']").length`), "what is over is not undone again")
	w.visit("/audit?stream=" + payments)
	for _, told := range []string{"fewer readers", "second thoughts"} {
		require.Contains(t, w.text(`document.querySelector("main").textContent`), told)
	}
	w.blameless()
}

// Monitoring, Console; protocol L9, F04: where Redis cannot tell whether a removed shard is empty,
// its page says so, and who knows it vouches for it by a form.
func TestARemovedShardIsVouchedForByItsForm(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo=false", hurry)
	s.create(t)
	ids := s.publishes(t, 2)
	s.loses(t, ids)
	at := s.resharding(t, payments, lastPayments)
	w := s.signedIn(t, userOps)
	w.visit(at)
	const confirm = `a[href*="confirm"]`
	w.until(fmt.Sprintf("document.querySelector(%q)", confirm))
	require.Contains(t, w.text(`document.querySelector("#migration-drains").textContent`), "Redis cannot tell how much booking has not read")
	w.clicks(confirm)
	w.until(`document.querySelector("[name=word]") && document.readyState === "complete"`)
	w.good("confirm-drain")
	w.wears(wide, "light")
	word := w.text(`document.querySelector("label[for=word] strong").textContent`)
	w.confirms(word, "entries were deleted by hand")
	w.until(fmt.Sprintf(`location.pathname === %q && document.querySelector("#migration-head .state").textContent === "done"`, "/console"+at))
	require.Contains(t, w.text(`document.querySelector("#migration-drains").textContent`), "Empty on an operator's word")
	made, err := s.admin.Migration(t.Context(), payments, booking, path.Base(at))
	require.NoError(t, err)
	require.Equal(t, protocol.MigrationDeprecated, made.State)
	require.Equal(t, protocol.ProofConfirmed, *made.Progress.Shards[0].Proof)
	w.blameless()
}

// publishes writes records to the shard that goes first, and returns their ids.
func (s *suite) publishes(t *testing.T, count int) []string {
	t.Helper()
	var ids []string
	for range count {
		id, err := s.redis.Client(t).XAdd(t.Context(), &redis.XAddArgs{
			Stream: routing.StreamKey(payments, lastPayments), Values: []string{"payload", "1"},
		}).Result()
		require.NoError(t, err)
		ids = append(ids, id)
	}
	return ids
}

// loses has Redis lose the lag of that shard: the last record is deleted before it is read. The
// other ones are read and acknowledged.
func (s *suite) loses(t *testing.T, ids []string) {
	t.Helper()
	rdb, key, last := s.redis.Client(t), routing.StreamKey(payments, lastPayments), len(ids)-1
	require.NoError(t, rdb.XDel(t.Context(), key, ids[last]).Err())
	require.NoError(t, rdb.XReadGroup(t.Context(), &redis.XReadGroupArgs{
		Group: booking, Consumer: "hand", Streams: []string{key, ">"}, Count: int64(len(ids)), Block: -1,
	}).Err())
	require.NoError(t, rdb.XAck(t.Context(), key, booking, ids[:last]...).Err())
}

// clicks clicks on what is there at this moment: in a piece that is kept up to date, what was
// found may be another element by the time that the mouse is there.
func (w *window) clicks(selector string) {
	w.t.Helper()
	w.until(fmt.Sprintf("document.querySelector(%q)", selector))
	w.text(fmt.Sprintf("document.querySelector(%q).click()", selector))
}
