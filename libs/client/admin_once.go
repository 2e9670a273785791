package client

import "fmt"

// Once returns an Admin whose changes are carried out once under key, which its caller makes
// anew for each change: who did not get the answer asks again with the same request and key, and
// gets the first answer within 24 h. The gateway keeps keys for each user and path; a coordinator
// knows none. Another request under the key is refused with IDEMPOTENCY_KEY_REUSED, and one while
// the first is under way with IDEMPOTENCY_KEY_IN_USE. A key has 1 to 128 printable ASCII
// characters; another one is refused with INVALID_REQUEST. What reads is asked as ever.
func (a *Admin) Once(key string) (*Admin, error) {
	keyed, err := a.api.Once(key)
	if err != nil {
		return nil, fmt.Errorf("once: %w", err)
	}
	return &Admin{api: keyed}, nil
}
