#include <mpi.h>
#include <stdio.h>

/* Adds up the ranks of all processes, which none of them can do alone. */
int main(int argc, char **argv) {
  int rank, size, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("the ranks of %d processes add up to %d\n", size, sum);
  MPI_Finalize();
  return 0;
}
