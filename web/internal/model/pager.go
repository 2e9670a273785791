package model

import "strconv"

// Pager says which part of a long list is shown. Addresses are empty where there is nothing.
type Pager struct {
	// From and To are the first and the last that are shown, from 1; Total is all of them.
	From, To, Total int
	Previous, Next  string
}

// paged returns the part of a list that a page shows, with its pager. at makes the address of
// another page; pages count from 1, and one that is not there is the nearest that is.
func paged[T any](list []T, page, size int, at func(page string) string) ([]T, Pager) {
	last := max((len(list)+size-1)/size, 1)
	page = min(max(page, 1), last)
	from, to := (page-1)*size, min(page*size, len(list))
	pager := Pager{From: min(from+1, to), To: to, Total: len(list)}
	if page > 1 {
		pager.Previous = at(strconv.Itoa(page - 1))
	}
	if page < last {
		pager.Next = at(strconv.Itoa(page + 1))
	}
	return list[from:to], pager
}
