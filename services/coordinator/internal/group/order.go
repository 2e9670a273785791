package group

// OrderError is why an order was refused.
type OrderError string

// The refusals of orders.
const (
	// ErrNotLive comes when the member to be fenced is not followed.
	ErrNotLive OrderError = "member is not live"
	// ErrNoBarrier comes when there is no barrier to be closed.
	ErrNoBarrier OrderError = "no barrier is up"
)

// Error implements error.
func (e OrderError) Error() string { return string(e) }

// OrderKind says what an operator wants.
type OrderKind int

// The orders.
const (
	// OrderBarrier opens a correction round with its barrier, as evidence would (M2).
	OrderBarrier OrderKind = iota + 1
	// OrderUnbar ends the barrier before its time (M3).
	OrderUnbar
	// OrderRewrite commits the state as it is, so that it is stored in the schema that is
	// written now (storage, Versions).
	OrderRewrite
	// OrderFence throws a member out; what it may be reading lingers (H4).
	OrderFence
)

// Order is an operator's intervention.
type Order struct {
	Kind      OrderKind
	Member    string // of OrderFence
	RequestID string
}

// obey carries out the order. It comes before time has its say, as evidence does: after a
// barrier that an operator asks for nobody expires by a lease that came back (T2).
func (s *step) obey() {
	o := s.in.Order
	if o == nil {
		return
	}
	switch o.Kind {
	case OrderBarrier:
		s.openRound(nil)
	case OrderUnbar:
		s.unbar(o)
	case OrderRewrite:
		s.edit()
	case OrderFence:
		s.expel(o)
	}
}

// unbar ends the barrier. A round that is open goes on until everybody is synchronised
// (M5).
func (s *step) unbar(o *Order) {
	if s.g.BarrierUntil == 0 {
		s.out.OrderErr = ErrNoBarrier
		return
	}
	s.edit().BarrierUntil = 0
	s.record(Change{Cause: CauseBarrierOver, Shard: -1, RequestID: o.RequestID})
}

// expel fences a live member on an operator's word.
func (s *step) expel(o *Order) {
	i, found := s.g.find(o.Member)
	if !found || !s.g.Members[i].leased() {
		s.out.OrderErr = ErrNotLive
		return
	}
	s.fence(i, CauseAdmin, nil)
}
