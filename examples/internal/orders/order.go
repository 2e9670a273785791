package orders

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
)

// payload is the field of a record that holds the order.
const payload = "payload"

// customers is how many customers there are; an order's customer is its partition key, so
// orders of one customer stay in their order.
const customers = 100

// ErrNoOrder comes with a record that holds no order, which no other attempt will change.
var ErrNoOrder = errors.New("record holds no order")

// Order is what a customer has bought.
type Order struct {
	// ID counts the orders of one producer from 1 on.
	ID       int64  `json:"id"`
	Customer string `json:"customer"`
	// Cents is the total in cents, above 0.
	Cents int64 `json:"cents"`
}

// Draw returns an order with the id, by some customer and for some amount.
func Draw(id int64) Order {
	return Order{ID: id, Customer: fmt.Sprintf("customer-%02d", rand.IntN(customers)), Cents: 100 + rand.Int64N(100_000)}
}

// Fields returns the order as a record's fields.
func (o Order) Fields() (map[string]any, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("encode order %d: %w", o.ID, err)
	}
	return map[string]any{payload: text}, nil
}

// Parse returns the order in a record's fields. It fails with ErrNoOrder.
func Parse(fields map[string]string) (Order, error) {
	text, there := fields[payload]
	if !there {
		return Order{}, fmt.Errorf("%w: it has no field %s", ErrNoOrder, payload)
	}
	var o Order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return Order{}, fmt.Errorf("%w: %w", ErrNoOrder, err)
	}
	if o.Customer == "" || o.Cents <= 0 {
		return Order{}, fmt.Errorf("%w: it names no customer or amount", ErrNoOrder)
	}
	return o, nil
}
