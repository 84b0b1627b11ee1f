/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * The few kernel types that the programs read, written by hand: only fields that are used, found in
 * the running kernel by CO-RE relocation.
 */
#ifndef WHATIF_KERNEL_H
#define WHATIF_KERNEL_H

#include <linux/bpf.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef _Bool bool;

/* Flags of bpf_timer_start that older UAPI headers lack. */
#define BPF_F_TIMER_ABS 1
#define BPF_F_TIMER_CPU_PIN 2

#define VM_WRITE 2
#define VM_EXEC 4
#define VM_GROWSDOWN 0x100

/* Missing in the UAPI. */
enum softirq {
	SOFTIRQ_TIMER = 1,
	SOFTIRQ_NET_TX,
	SOFTIRQ_NET_RX,
	SOFTIRQ_BLOCK,
	SOFTIRQ_HRTIMER = 8,
};

#define TARGET_IN_KERNEL __attribute__((preserve_access_index))

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	void *vdso;
} TARGET_IN_KERNEL mm_context_t;

struct mm_struct {
	mm_context_t context;
	unsigned long exec_vm;	  /* pages */
	unsigned long start_code; /* of the program */
} TARGET_IN_KERNEL;

struct signal_struct {
	atomic_t live;
	unsigned int flags;
} TARGET_IN_KERNEL;

struct upid {
	int nr;
} TARGET_IN_KERNEL;

/* A task's number in each of its namespaces, from the outermost on. */
struct pid {
	unsigned int level;
	u64 ino; /* since Linux 6.9 */
	struct upid numbers[1];
} TARGET_IN_KERNEL;

struct completion;

/* A processor has one of these two, see IN_COMPAT_CALL. */
struct thread_info {
	unsigned long flags;
	u32 cpu;
	u32 status;
} TARGET_IN_KERNEL;

struct list_head {
	struct list_head *next;
} TARGET_IN_KERNEL;

struct rt_rq {
	unsigned int rt_nr_running;
	struct {
		int curr;
	} highest_prio; /* of the queued tasks, including the one that runs */
	int rt_queued;	/* 0: all of them are throttled, or there are none */
} TARGET_IN_KERNEL;

struct dl_rq {
	unsigned int dl_nr_running;
} TARGET_IN_KERNEL;

struct task_struct;

struct rq {
	unsigned int nr_running;
	struct task_struct *stop; /* of the stop class, which comes before all others */
	struct rt_rq rt;
	struct dl_rq dl;
	struct list_head cfs_tasks;
} TARGET_IN_KERNEL;

struct load_weight {
	unsigned long weight;
} TARGET_IN_KERNEL;

struct cfs_rq {
	struct load_weight load;
	struct rq *rq;
} TARGET_IN_KERNEL;

struct sched_entity {
	struct load_weight load;
	struct sched_entity *parent; /* where groups have shares */
	struct cfs_rq *cfs_rq;
	struct list_head group_node;
	unsigned char sched_delayed; /* it sleeps, but its core's queue keeps it for a while */
} TARGET_IN_KERNEL;

struct nsproxy {
	void *ipc_ns;
} TARGET_IN_KERNEL;

struct cpumask {
	unsigned long bits[1]; /* and as many more as the kernel's build asks for */
} TARGET_IN_KERNEL;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned long jobctl;
	unsigned in_iowait : 1;
	unsigned int flags;
	int on_cpu;
	int on_rq;
	int prio;
	struct sched_entity se;
	void *dl_server; /* the deadline server that it runs for now */
	int nr_cpus_allowed;
	struct cpumask cpus_mask;
	int pid;
	int tgid;
	struct mm_struct *mm;
	struct files_struct *files;
	struct nsproxy *nsproxy;
	char comm[16];
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct completion *vfork_done;
	u64 start_boottime;
	struct signal_struct *signal;
} TARGET_IN_KERNEL;

/* Of signal_struct.flags: all threads of the process are to end. */
#define SIGNAL_GROUP_EXIT 0x4

/* Bits of task_struct.flags. */
#define PF_EXITING 0x4
#define PF_IO_WORKER 0x10
#define PF_USER_WORKER 0x4000
#define PF_KTHREAD 0x200000

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} TARGET_IN_KERNEL;

struct bpf_map;

struct bpf_iter__bpf_map {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
} TARGET_IN_KERNEL;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} TARGET_IN_KERNEL;

struct super_block {
	u32 s_dev;
} TARGET_IN_KERNEL;

struct inode {
	u16 i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	s64 i_ctime_sec;
	u32 i_ctime_nsec;
} TARGET_IN_KERNEL;

/* Before 6.11, and before 6.6. */
struct timespec64 {
	s64 tv_sec;
	long tv_nsec;
} TARGET_IN_KERNEL;
struct inode___before_6_11 {
	struct timespec64 __i_ctime;
} TARGET_IN_KERNEL;
struct inode___before_6_6 {
	struct timespec64 i_ctime;
} TARGET_IN_KERNEL;

struct file {
	struct inode *f_inode;
} TARGET_IN_KERNEL;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} TARGET_IN_KERNEL;

struct files_struct {
	struct fdtable *fdt;
} TARGET_IN_KERNEL;

struct bpf_perf_event_data;

/* Exists where the scheduler does not count interrupts as the running thread's time. */
struct irqtime {
	u64 total;
} TARGET_IN_KERNEL;

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
} TARGET_IN_KERNEL;

struct linux_binprm;

/* Since Linux 6.2. */
extern void *bpf_rdonly_cast(const void *what, u32 type) __attribute__((section(".ksyms"), weak));

/* Since Linux 6.7. */
struct bpf_iter_task_vma {
	u64 opaque[1];
};
extern int bpf_iter_task_vma_new(struct bpf_iter_task_vma *all, struct task_struct *task,
				 u64 address) __attribute__((section(".ksyms"), weak));
extern struct vm_area_struct *bpf_iter_task_vma_next(struct bpf_iter_task_vma *all)
	__attribute__((section(".ksyms"), weak));
extern void bpf_iter_task_vma_destroy(struct bpf_iter_task_vma *all)
	__attribute__((section(".ksyms"), weak));

#endif
