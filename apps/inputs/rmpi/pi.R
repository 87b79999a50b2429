# The master spawns two workers, sends each a part of an integral and adds up what they return.
suppressMessages(library(Rmpi))
mpi.spawn.Rslaves(nslaves = 2, quiet = TRUE, needlog = FALSE)
part <- function(n) {
  rank <- mpi.comm.rank()
  x <- (seq(rank, n, by = 2) - 0.5) / n
  sum(4 / (1 + x^2)) / n
}
mpi.bcast.Robj2slave(part)
for (i in 1:20) {
  sums <- unlist(mpi.remote.exec(part(200000)))
}
cat(sprintf("pi is about %.10f\n", sum(sums)))
invisible(mpi.close.Rslaves(dellog = FALSE))
mpi.quit()
