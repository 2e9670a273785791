package login

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
)

// digest stands for a text of any length, so that what somebody types in cannot fill the
// memory.
type digest [sha256.Size]byte

// digestOf returns the digest of texts; their lengths count, so that the border between two
// cannot be moved.
func digestOf(texts ...string) digest {
	var buffer [128]byte
	data := buffer[:0]
	for _, text := range texts {
		data = binary.BigEndian.AppendUint64(data, uint64(len(text)))
		data = append(data, text...)
	}
	return sha256.Sum256(data)
}

// book keeps the tallies that were asked for last, so many of them at most. One that is in
// use by a try is not dropped.
type book struct {
	limit int
	pages map[digest]*list.Element
	order *list.List // of *page, the one asked for last in front
}

type page struct {
	key   digest
	tally *tally
}

func newBook(limit int) *book {
	return &book{limit: limit, pages: map[digest]*list.Element{}, order: list.New()}
}

// find returns a tally, or nil where there is none.
func (b *book) find(key digest) *tally {
	element, known := b.pages[key]
	if !known {
		return nil
	}
	b.order.MoveToFront(element)
	return tallyOf(element)
}

// take returns a tally, a new one where there is none.
func (b *book) take(key digest) *tally {
	if known := b.find(key); known != nil {
		return known
	}
	if len(b.pages) >= b.limit {
		b.dropOldest()
	}
	fresh := &tally{}
	b.pages[key] = b.order.PushFront(&page{key: key, tally: fresh})
	return fresh
}

// drop forgets a tally.
func (b *book) drop(key digest) {
	if element, known := b.pages[key]; known {
		b.order.Remove(element)
		delete(b.pages, key)
	}
}

// dropOldest drops the tally that was not asked for the longest and that no try uses. Tries
// are few, as each costs a hash.
func (b *book) dropOldest() {
	for element := b.order.Back(); element != nil; element = element.Prev() {
		if tallyOf(element).trying > 0 {
			continue
		}
		if oldest, ok := element.Value.(*page); ok {
			b.drop(oldest.key)
		}
		return
	}
}

func tallyOf(element *list.Element) *tally {
	found, _ := element.Value.(*page)
	return found.tally
}
