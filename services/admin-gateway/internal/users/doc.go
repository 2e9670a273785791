// Package users is the gateway's table of users: who they are, how their passwords are
// checked, and what they may do now (gateway, Authentication and Roles).
//
// Non-obvious:
//   - A check hashes exactly once, whether the user exists or not: who asks for a user that
//     does not exist is compared with the hash of one that does, and refused whatever comes
//     out. Where the hashes of a table differ in their parameters, an unknown name always
//     falls on the same one.
//   - Plain passwords, which only development has, are hashed when the table is made, so
//     that there is one way to check.
//   - A hash takes 64 MiB. At most four are made at a time, over all tables of a directory.
package users
