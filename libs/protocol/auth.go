package protocol

// LoginRequest asks the gateway for a token.
type LoginRequest struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// LoginResponse answers a login.
type LoginResponse struct {
	AccessToken string `json:"accessToken"`
	// TokenType is Bearer.
	TokenType        string    `json:"tokenType"`
	ExpiresAt        Timestamp `json:"expiresAt"`
	ExpiresInSeconds int64     `json:"expiresInSeconds"`
	Roles            []string  `json:"roles"`
}

// SessionResponse tells a caller who the gateway takes it for.
type SessionResponse struct {
	Authenticated bool `json:"authenticated"`
	// Username is null where nobody is authenticated.
	Username *string  `json:"username"`
	Roles    []string `json:"roles"`
	// Scopes are patterns of stream prefixes; empty is every stream.
	Scopes []string `json:"scopes"`
}

// LogoutResponse tells that a token is over.
type LogoutResponse struct {
	LoggedOut bool `json:"loggedOut"`
}
