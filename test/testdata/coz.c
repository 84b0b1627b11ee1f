/* COZ's macros, in threads and forked children: 9000 visits of each point. */
#include <coz.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *run(void *unused) {
  for (int i = 0; i < 1000; i++) {
    COZ_BEGIN("pair");
    COZ_PROGRESS; // HERE
    COZ_PROGRESS_NAMED("named point");
    COZ_END("pair");
  }
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    if (pthread_create(&threads[i], NULL, run, NULL))
      return 1;
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < 5; i++) {
    if (fork() == 0) {
      run(NULL);
      _exit(0);
    }
    if (wait(NULL) < 0)
      return 1;
  }
  return 0;
}
