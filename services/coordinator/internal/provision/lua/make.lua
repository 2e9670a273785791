-- ARGV: token, then names and starts of groups. It makes what is missing.
return refused() or provide(2)
