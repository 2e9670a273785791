// Package auth is what the services of the suite share about who may do what: roles and
// their scopes, the gateway's signing keys with their JWK set, and tokens, which the gateway
// signs and everybody verifies (gateway, Authentication and Roles).
//
// Two kinds of tokens have one form, a JWT signed with EdDSA:
//
//   - login tokens (audience AudienceAPI, and AudienceMember where the user is a member),
//     which callers hold for days. They say who somebody is; the gateway looks up what that
//     user may do now, so that taking a right away works at once;
//   - upstream tokens (audience of one service), which the gateway signs for one request that
//     it has let through and that are over after a minute. They carry the rights.
//
// Non-obvious:
//   - A token is refused with ErrToken and nothing else, whatever is wrong with it. What it
//     was is the wrapped text, for logs only.
//   - Only the key names a token's algorithm. The header's alg has to be the same, and what
//     else a header asks for (jku, x5u, jwk) is not looked at.
//   - Claims are read strictly, by httpx.Decoder: text is no number, a list is no text.
package auth
