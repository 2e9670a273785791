// Package login says who asks: it checks passwords, gives and takes back tokens and
// sessions, and lets by who may ask for what (gateway, Authentication and Roles).
//
// Two stages of the pipeline are here. Service.Stage reads the credential of a request, a
// login token, a name with a password, or the cookie of a session. Service.Authorise
// compares the rights of whom it found with what the route needs. Rights come from the
// current table of users, never from the token.
//
// Non-obvious:
//   - Whatever is wrong with a credential, the answer is 401 with one text. Locks answer 429,
//     for users that do not exist as well.
//   - A lock is looked at before anything that knows the password, remembered checks too,
//     else what is remembered could be guessed at without limit.
//   - Equal checks at the same time are one check. Fifty processes that start together with
//     one user cost one hash.
//   - Where members need no credential, what a heartbeat brings is not looked at: a token
//     that has run out must not end a consumer (wire contract, old clients).
//   - A cookie is sent by browsers without anybody's will. One that is not valid is dropped
//     on public routes, and one that is valid changes something only with a header that
//     other sites' pages cannot send.
//   - Changing a password does not end tokens; removing the user or its roles does.
package login
