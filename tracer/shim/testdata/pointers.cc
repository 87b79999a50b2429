// Passes MPI pointers to all kinds of memory; the tag of each send is what the test expects.
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

extern "C" int cudaSetDevice(int);
extern "C" int cudaMalloc(void **, size_t);
extern "C" int cudaMallocManaged(void **, size_t, unsigned);
extern "C" int cudaHostAlloc(void **, size_t, unsigned);
extern "C" int cudaFree(void *);
extern "C" int cudaFreeHost(void *);
extern "C" int cuMemAlloc_v2(unsigned long *, size_t);
extern "C" int cuMemFree_v2(unsigned long);

static char data[4096];

static void send(const void *p, int tag)
{
	MPI_Send(p, p != NULL, MPI_BYTE, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
}

static void *churn(void *)
{
	char *kept[64] = {};
	unsigned seed = 1;
	for (int i = 0; i < 200000; i++) {
		seed = seed * 1103515245 + 12345;
		char *&p = kept[seed >> 16 & 63];
		free(p);
		p = (char *)malloc(seed >> 8 & 0x7fff);
	}
	for (char *p : kept)
		free(p);
	return NULL;
}

int main(int argc, char **argv)
{
	int provided, rank;
	char local[64];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	pthread_t threads[3];
	for (pthread_t &t : threads)
		pthread_create(&t, NULL, churn, NULL);
	send(data + 8, 1);
	send(local, 2);
	send(local + 16, 3);
	for (int i = 0; i < 5; i++) { // one name, with another allocation between
		void *between = malloc(1000 + rank);
		char *p = (char *)malloc(1000);
		send(p + i, 10);
		free(between);
		free(p);
	}
	char *a = (char *)malloc(100000), *b = (char *)malloc(100000);
	send(a + 50000, 20);
	send(b + 99999, 21);
	a = (char *)realloc(a, 1 << 20);
	send(a + (1 << 19), 22);
	free(a);
	free(b);
	void *aligned;
	if (posix_memalign(&aligned, 4096, 10000) != 0)
		return 1;
	send(aligned, 30);
	free(aligned);
	char *object = new char[77];
	send(object + 76, 31);
	delete[] object;
	char *zeros = (char *)calloc(10, 10);
	send(zeros, 32);
	free(zeros);
	char *mapped = (char *)mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	send(mapped + 4097, 40);
	munmap(mapped, 1 << 15); // half of it
	send(mapped + (1 << 15) + 1, 41);
	munmap(mapped + (1 << 15), 1 << 15);
	void *d, *m, *h;
	unsigned long u;
	cudaSetDevice(1);
	cudaMalloc(&d, 5000);
	cudaMallocManaged(&m, 6000, 1);
	cudaHostAlloc(&h, 7000, 0);
	cuMemAlloc_v2(&u, 8000);
	send((char *)d + 100, 50);
	send(m, 51);
	send((char *)h + 1, 52);
	send((void *)(u + 2), 53);
	cudaFree(d);
	cudaMalloc(&d, 5000);
	send(d, 54);
	cudaFree(d);
	cudaFree(m);
	cudaFreeHost(h);
	cuMemFree_v2(u);
	send(NULL, 60);
	for (pthread_t &t : threads)
		pthread_join(t, NULL);
	MPI_Finalize();
	return 0;
}
