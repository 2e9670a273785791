// Package view renders pages from what package model made: templ components, which escape every
// value. It asks nobody anything.
package view

//go:generate go tool templ generate

import "github.com/redis-stream-coordinator/rsc/web/internal/static"

// Frame is what every page has around its own part.
type Frame struct {
	// Title is the page's, Section the entry of the navigation that it belongs to.
	Title, Section string
	// Root is the path of the console, Here the address of this page.
	Root, Here string
	Version    string
	// User is who has logged in; empty for nobody. MayChange tells that this one may change
	// something: other users see no form.
	User      string
	Roles     []string
	MayChange bool
	// Scopes are the streams that this one is bound to; empty for all.
	Scopes string
	// FormToken goes along with every form.
	FormToken string
	// Live is the address of the events that keep the page up to date; empty for none.
	Live string
	// Done says what a form that was sent has done; empty for nothing.
	Done string
}

func (f Frame) asset(name string) string { return static.Address(f.Root, name) }

// Trouble is what a page says that could not be made.
type Trouble struct {
	Status      int
	Title, Text string
	// Advice is what can be done about it, Code the API's; both may be empty.
	Advice, Code string
}

// following returns the frame of a page that is kept up to date.
func (f Frame) following(live string) Frame {
	f.Live = live
	return f
}
